/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/core.h"
#include "placement/insertion.h"
#include "placement/layers/arrange.h"
#include "placement/layers/stage.h"
#include "placement/limited.h"
#include "placement/method/group.h"
#include "placement/method/ring-cost.h"
#include "placement/method/ring-plan.h"
#include "placement/overlapped.h"
#include "placement/plan/find-steps.h"
#include "placement/ring-front.h"
#include "placement/ring.h"
#include "placement/solve.h"
#include "placement/split.h"

#define COUNTED_MAX 16u
#define HALVINGS 40u
#define ROUNDING 1e-9
#define QUICK_MAX 16u         /* a ring of at most this many devices is found at once */
#define LIMITED_EXACT_MAX 16u /* most devices of a ring that a limited choice solves exactly */
/* Work on stages near those of the solver, in cells of cuts: for the plan itself, and for plans that it is
 * compared with, if there are at most ARRANGE_ALL devices. */
#define ARRANGE_PLAN UINT64_C(200000)
#define ARRANGE_OTHER UINT64_C(10000)
#define ARRANGE_ALL 32u /* devices */
/* The same if the layers fit on no stages of the solver, and the work, in steps of some ns, on finding any
 * stages on which they fit. */
#define ARRANGE_TIGHT UINT64_C(1000000)
#define FIT_PLAN UINT64_C(30000000)
#define FIT_OTHER UINT64_C(100000)

/* How one of several paths between two nodes is chosen. */
typedef enum RingPaths {
        RING_PATHS_SHORT, /* the one with the least time */
        RING_PATHS_WIDE,  /* the one that is occupied for the least time */
        RING_PATHS_BOTH,  /* as if one path had both, for bounds */
} RingPaths;

/* The candidates of one vendor. */
typedef struct Ring {
        const AldPlanCandidates *candidates;
        const AldPlanChoice *choice;
        uint32_t n;
        uint32_t *members; /* candidates */
        uint32_t *nodes;
        AldPlacementDevice *devices;
        AldPlacementEnds *ends;
        RingPaths paths;
        double *hop_nsec, *occupy_nsec;
        double *closing_nsec, *closing_occupy_nsec; /* of hops from the last stage to the first */
        double ideal_nsec;     /* the least possible, if the layers fit as the solver assumes */
        uint64_t arrange_work; /* work on stages near those of the solver */
        bool is_tight;         /* the layers fit on none of the stages that the solver found */
} Ring;

/* The rings that are sought. */
typedef struct RingGoal {
        uint32_t in_flight;  /* steps under way */
        double busiest_nsec; /* how long a step may occupy any part */
        bool quick;          /* with little work, for one step; the result may be worse */
} RingGoal;

static void ring_clear(Ring *ring)
{
        g_free(ring->members);
        g_free(ring->nodes);
        g_free(ring->devices);
        g_free(ring->ends);
        g_free(ring->hop_nsec);
        g_free(ring->occupy_nsec);
        g_free(ring->closing_nsec);
        g_free(ring->closing_occupy_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ring, ring_clear)

static uint32_t node_of(const Ring *ring, uint32_t member)
{
        return ald_plan_candidate_device(ring->candidates, ring->members[member])->node;
}

static void add_member(Ring *ring, uint32_t candidate)
{
        const AldPlanCandidates *candidates = ring->candidates;
        const AldPlanRequest *request = candidates->request;
        uint64_t embedding = request->workload->embedding_bytes, head = request->workload->head_bytes;
        uint64_t both = ald_plan_ends_bytes(request->workload, request->engine);

        ring->ends[ring->n] = (AldPlacementEnds){ .last_nsec = candidates->head_nsec[candidate],
                .layers_max_first = ald_plan_stage_layers_max(
                        candidates, candidate, ALD_PLAN_RUN_FIRST, embedding),
                .layers_max_last = ald_plan_stage_layers_max(candidates, candidate, ALD_PLAN_RUN_LAST, head),
                .layers_max_both = ald_plan_stage_layers_max(
                        candidates, candidate, ALD_PLAN_RUN_FIRST, both) };
        ring->nodes[ring->n] = ald_plan_candidate_device(candidates, candidate)->node;
        ring->members[ring->n++] = candidate;
}

/* Sets the room of the devices for layers between the ends. Which ones a device gets is unknown yet, so the
 * solver assumes this run. */
static void set_run(Ring *ring, AldPlanLayerRun run)
{
        for (uint32_t i = 0; i < ring->n; i++)
                ring->devices[i] = ald_plan_stage_device(
                        ring->candidates, ring->choice, ring->members[i], run);
}

static AldRingHop hop_of(const Ring *ring, uint32_t source, uint32_t sink, bool closes)
{
        AldRingHop hop = ald_ring_hop(ring->candidates, ring->choice, source, sink, closes), wide;

        if (ring->paths == RING_PATHS_SHORT)
                return hop;
        wide = ald_ring_hop_wide(ring->candidates, ring->choice, source, sink, closes);
        if (ring->paths == RING_PATHS_WIDE)
                return wide;
        hop.occupy_nsec = wide.occupy_nsec;
        return hop;
}

static void set_hops(Ring *ring, RingPaths paths)
{
        ring->paths = paths;
        for (uint32_t i = 0; i < ring->n; i++)
                for (uint32_t j = 0; j < ring->n; j++) {
                        AldRingHop hop = hop_of(ring, node_of(ring, i), node_of(ring, j), false);
                        AldRingHop closing = hop_of(ring, node_of(ring, i), node_of(ring, j), true);
                        size_t at = (size_t) i * ring->n + j;

                        ring->hop_nsec[at] = hop.nsec;
                        ring->occupy_nsec[at] = hop.occupy_nsec;
                        ring->closing_nsec[at] = closing.nsec;
                        ring->closing_occupy_nsec[at] = closing.occupy_nsec;
                }
}

/* Returns whether the shortest path is not the widest one between any two members. */
static bool do_paths_differ(const Ring *ring)
{
        for (uint32_t i = 0; i < ring->n; i++)
                for (uint32_t j = 0; j < ring->n; j++) {
                        uint32_t source = node_of(ring, i), sink = node_of(ring, j);
                        size_t at = (size_t) i * ring->n + j;

                        if (ald_ring_hop_wide(ring->candidates, ring->choice, source, sink, false)
                                                .occupy_nsec < ring->occupy_nsec[at] ||
                                ald_ring_hop_wide(ring->candidates, ring->choice, source, sink, true)
                                                .occupy_nsec < ring->closing_occupy_nsec[at])
                                return true;
                }
        return false;
}

static void ring_init(
        Ring *ring, const AldPlanCandidates *candidates, const AldPlanChoice *choice, const char *vendor)
{
        *ring = (Ring){ .candidates = candidates,
                .choice = choice,
                .members = g_new(uint32_t, candidates->n),
                .nodes = g_new(uint32_t, candidates->n),
                .devices = g_new(AldPlacementDevice, candidates->n),
                .ends = g_new(AldPlacementEnds, candidates->n) };
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_allows(choice, i) && ald_plan_has_vendor(candidates, i, vendor))
                        add_member(ring, i);
        set_run(ring, ALD_PLAN_RUN_SMALLEST);
        ring->hop_nsec = g_new(double, (size_t) ring->n * ring->n);
        ring->occupy_nsec = g_new(double, (size_t) ring->n * ring->n);
        ring->closing_nsec = g_new(double, (size_t) ring->n * ring->n);
        ring->closing_occupy_nsec = g_new(double, (size_t) ring->n * ring->n);
        set_hops(ring, RING_PATHS_SHORT);
}

/* Returns what the stage holds beside its layers and the head. */
static uint64_t bytes_beside(const Ring *ring, bool is_first, bool is_last)
{
        const AldPlanRequest *request = ring->candidates->request;

        if (!is_first)
                return 0;
        return is_last ? ald_plan_ends_bytes(request->workload, request->engine) -
                                 request->workload->head_bytes
                       : request->workload->embedding_bytes;
}

static AldPlanStage stage_of(const Ring *ring, const AldPlacementSolution *solution, uint32_t i)
{
        const AldPlanCandidates *candidates = ring->candidates;
        const AldPlacementStage *stage = &solution->stages[i];
        uint32_t next = solution->stages[(i + 1) % solution->n_stages].device;
        uint32_t source = node_of(ring, stage->device), sink = node_of(ring, next);
        bool is_last = i + 1 == solution->n_stages;
        const double *hop_nsec = is_last ? ring->closing_nsec : ring->hop_nsec;
        AldPlanStage made = ald_plan_stage(candidates, ring->members[stage->device], stage->layers,
                bytes_beside(ring, i == 0, is_last), is_last);

        if (solution->n_stages > 1) {
                made.hop_nsec = made.nsec_to = hop_nsec[(size_t) stage->device * ring->n + next];
                made.bytes_to = ald_ring_hop_bytes(candidates, is_last);
        }
        if (source == sink)
                return made;
        made.path_to = hop_of(ring, source, sink, is_last).path;
        return made;
}

/* Takes the solution: makes steps of it if its interval is the shortest, and frees it. */
static void keep_better(const Ring *ring, const AldPlacementProblem *problem, uint32_t in_flight,
        AldPlacementSolution *solution, AldPlanSteps *best)
{
        double interval = ald_placement_overlapped(problem, ring->occupy_nsec, in_flight, solution);

        if (!best->stages || interval < best->interval_nsec) {
                g_free(best->stages);
                best->stages = g_new(AldPlanStage, solution->n_stages);
                best->n_stages = solution->n_stages;
                best->nsec = solution->nsec;
                best->in_flight = in_flight;
                best->busiest_nsec = ald_placement_busiest(problem, ring->occupy_nsec, solution);
                best->interval_nsec = interval;
                best->hops_nsec = 0;
                for (uint32_t i = 0; i < solution->n_stages; i++) {
                        best->stages[i] = stage_of(ring, solution, i);
                        best->hops_nsec += best->stages[i].hop_nsec;
                }
                ald_plan_stages_set_layers(ring->candidates->request, best->stages, best->n_stages);
        }
        ald_placement_solution_clear(solution);
}

static int solve_ring(const Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        double enough_nsec, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        g_auto(AldPlacementLimited) limited = { 0 };

        if (goal->quick) {
                *ret_lower_nsec = 0;
                return ald_placement_solve_briefly(problem, ret, ret_lower_nsec);
        }
        if (goal->in_flight > 1)
                return ald_placement_solve_overlapped(
                        problem, ring->occupy_nsec, goal->in_flight, enough_nsec, ret, ret_lower_nsec);
        ald_placement_limited_init(&limited, problem, ring->occupy_nsec);
        ald_placement_limited_set(&limited, goal->busiest_nsec);
        *ret_lower_nsec = INFINITY;
        return ald_placement_solve(&limited.problem, ret, ret_lower_nsec);
}

static uint32_t member_of(const Ring *ring, uint32_t device)
{
        uint32_t member = 0;

        while (ring->candidates->devices[ring->members[member]] != device)
                member++;
        return member;
}

/* Inserts the required candidate into the given order. The result is no bound on other orders. */
static int insert_required(const Ring *ring, const AldPlacementProblem *problem, AldPlacementSolution *ret,
        double *ret_lower_nsec)
{
        const AldPlanSteps *around = ring->choice->around;
        g_autofree uint32_t *order = g_new(uint32_t, around->n_stages);

        for (uint32_t i = 0; i < around->n_stages; i++)
                order[i] = member_of(ring, around->stages[i].device);
        *ret_lower_nsec = 0;
        return ald_placement_insert(problem, order, around->n_stages,
                member_of(ring, ring->candidates->devices[ring->choice->required]), ret);
}

/* Returns the limit on devices, which is at most the number of stages that the solvers support. */
static uint32_t devices_max(const Ring *ring)
{
        uint32_t most = ring->choice->devices_max > 0 ? ring->choice->devices_max : ring->n;

        return most > ALD_PLACEMENT_STAGES_LIMIT ? ALD_PLACEMENT_STAGES_LIMIT : ring->choice->devices_max;
}

/* Returns how long a step may occupy a part without making the solution worse. */
static double busiest_max(const Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        const AldPlacementSolution *solution)
{
        return goal->in_flight > 1
                       ? ald_placement_overlapped(problem, ring->occupy_nsec, goal->in_flight, solution) /
                                 goal->in_flight
                       : goal->busiest_nsec;
}

/* Returns the layers that a device may have in a role if no stage takes longer than this. */
static AldPlanStageCut cut_in_role(
        const Ring *ring, uint32_t member, bool is_first, bool is_last, double busiest_nsec)
{
        const AldPlanCandidates *candidates = ring->candidates;
        uint32_t candidate = ring->members[member];
        AldPlanStageCut cut = ald_plan_stage_cut(candidates, candidate,
                bytes_beside(ring, is_first, is_last) +
                        (is_last ? candidates->request->workload->head_bytes : 0),
                candidates->request->constants.values[ALD_PLAN_BUFFER_BYTES]);
        double layers = (busiest_nsec * (1 + ALD_PLAN_TIE) -
                                (is_last ? candidates->head_nsec[candidate] : 0)) /
                        cut.layer_nsec;

        if (layers < cut.layers_max)
                cut.layers_max = (uint32_t) fmax(layers, 0);
        return cut;
}

/* Gives each stage the layers that fit, now that it is known which layers it has. Returns whether all fit. */
static bool cut_layers(const Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        AldPlacementSolution *solution)
{
        g_autofree AldPlanStageCut *cuts = g_new(AldPlanStageCut, solution->n_stages);
        double busiest = busiest_max(ring, problem, goal, solution);

        for (uint32_t i = 0; i < solution->n_stages; i++)
                cuts[i] = cut_in_role(
                        ring, solution->stages[i].device, i == 0, i + 1 == solution->n_stages, busiest);
        return ald_plan_stages_cut(ring->candidates->request, ring->choice, cuts, solution->stages,
                solution->n_stages, &solution->nsec);
}

/* The data with which beside_nsec() measures an order of stages. */
typedef struct RingTopology {
        const Ring *ring;
        const AldPlacementProblem *problem;
} RingTopology;

static double beside_nsec(const void *userdata, const AldStageOrder *order, double *ret_occupy_nsec)
{
        const RingTopology *topology = userdata;
        const Ring *ring = topology->ring;
        double nsec = ald_placement_ends_nsec(
                topology->problem, order->devices[0], order->devices[order->n - 1]);

        *ret_occupy_nsec = 0;
        for (uint32_t i = 0; order->n > 1 && i < order->n; i++) {
                bool closes = i + 1 == order->n;
                size_t at = (size_t) order->devices[i] * ring->n + order->devices[closes ? 0 : i + 1];

                nsec += (closes ? ring->closing_nsec : ring->hop_nsec)[at];
                *ret_occupy_nsec = fmax(
                        *ret_occupy_nsec, (closes ? ring->closing_occupy_nsec : ring->occupy_nsec)[at]);
        }
        return nsec;
}

/* Returns whether stages near those of the solver are tried: for the plan itself, and with few devices also
 * for plans that it is compared with. */
static bool should_arrange(const Ring *ring)
{
        return ring->candidates->request->sizes && !ring->choice->around &&
               (ring->choice->level || ring->n <= ARRANGE_ALL);
}

/* Sets the layers that each device may have in each role if no stage takes longer than this. */
static void set_cuts(const Ring *ring, double busiest_nsec, AldPlanStageCut *cuts)
{
        for (uint32_t i = 0; i < ring->n; i++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        AldPlanStageCut *cut = &cuts[(size_t) i * ALD_PLACEMENT_N_ROLES + role];
                        uint32_t most = ring->devices[i].layers_max;

                        *cut = cut_in_role(
                                ring, i, role & ALD_PLACEMENT_FIRST, role & ALD_PLACEMENT_LAST, busiest_nsec);
                        if (role == ALD_PLACEMENT_FIRST)
                                most = ring->ends[i].layers_max_first;
                        else if (role == ALD_PLACEMENT_LAST)
                                most = ring->ends[i].layers_max_last;
                        else if (role == ALD_PLACEMENT_BOTH)
                                most = ring->ends[i].layers_max_both;
                        cut->layers_max = MIN(cut->layers_max, most);
                }
}

/* Searches for stages near those of the solution with a shorter interval, also shorter than below_nsec.
 * Returns -EAGAIN if none are found, and -ENOSPC if the layers fit on none. */
static int arrange_stages(Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        double below_nsec, AldPlacementSolution *solution, bool *ret_is_least)
{
        g_autofree AldPlanStageCut *cuts = g_new(AldPlanStageCut, (size_t) ring->n * ALD_PLACEMENT_N_ROLES);
        g_autofree double *head_nsec = g_new(double, ring->n);
        const RingTopology topology = { ring, problem };
        const bool is_plan = ring->choice->level;
        const uint64_t plan_work = ring->is_tight ? ARRANGE_TIGHT : ARRANGE_PLAN;
        bool head_is_first = false;
        const AldPlanArrangement arrangement = { .request = ring->candidates->request,
                .problem = problem,
                .cuts = cuts,
                .beside_nsec = beside_nsec,
                .topology = &topology,
                .head_nsec = head_nsec,
                .steps = goal->in_flight,
                .occupy_max_nsec = goal->busiest_nsec,
                .ideal_nsec = ring->ideal_nsec,
                .below_nsec = below_nsec,
                .work = &ring->arrange_work,
                .work_max = is_plan ? plan_work : ARRANGE_OTHER,
                .fit_work_max = is_plan && ring->is_tight ? FIT_PLAN : FIT_OTHER };

        if (ring->arrange_work >= arrangement.work_max)
                return -EAGAIN;
        /* The room is that for the smallest run, even if the solver assumed another one. */
        set_run(ring, ALD_PLAN_RUN_SMALLEST);
        set_cuts(ring, goal->busiest_nsec, cuts);
        for (uint32_t i = 0; i < ring->n; i++)
                head_nsec[i] = ring->ends[i].last_nsec;
        return ald_plan_arrange(&arrangement, solution, &head_is_first, ret_is_least);
}

static double interval_of(const Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        const AldPlacementSolution *solution)
{
        return goal->in_flight > 1
                       ? ald_placement_overlapped(problem, ring->occupy_nsec, goal->in_flight, solution)
                       : solution->nsec;
}

static AldPlacementProblem prepare_problem(Ring *ring, AldPlanLayerRun run)
{
        set_run(ring, run);
        return (AldPlacementProblem){ .layers = ring->candidates->request->workload->layers,
                .n_devices = ring->n,
                .devices = ring->devices,
                .hop_nsec = ring->hop_nsec,
                .closing_nsec = ring->closing_nsec,
                .closing_occupy_nsec = ring->closing_occupy_nsec,
                .exact_max = ring->choice->limited ? LIMITED_EXACT_MAX : 0,
                .devices_max = devices_max(ring),
                .nodes = ring->nodes,
                .nodes_max = ring->choice->nodes_max,
                /* No format of the engines can express a node in two places of the ring. */
                .nodes_together = true,
                .nodes_even = ring->choice->nodes_even,
                .ends = ring->ends,
                .proceed = ald_plan_progress_proceed,
                .userdata = ring->candidates->progress };
}

/* Finds stages as if layers were alike. *ret_lower_nsec is a lower bound also if there are none. */
static int find_solution(const Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        double enough_nsec, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        int r = ring->choice->around ? insert_required(ring, problem, ret, ret_lower_nsec)
                                     : solve_ring(ring, problem, goal, enough_nsec, ret, ret_lower_nsec);

        /* Beyond the exact size, or if time was up, a ring may exist that was not found. */
        if (r == -ECANCELED || (r < 0 && r != -ENOSPC && ring->n > ALD_PLACEMENT_RING_MAX))
                *ret_lower_nsec = 0;
        return r;
}

/* How the layers fit on the stages of a solution. */
typedef struct RingFit {
        bool fits;
        bool is_arranged; /* the stages were replaced by others near them */
        bool is_least;    /* all orders were tried: none takes less than these and enough_nsec */
        bool is_hopeless; /* the layers provably fit on no stages */
} RingFit;

/* Cuts the layers for the stages of the solution. If they do not fit, or take longer than the ideal, searches
 * for stages near these. */
static RingFit fit_layers(Ring *ring, const AldPlacementProblem *problem, const RingGoal *goal,
        double enough_nsec, bool has_plan, AldPlacementSolution *solution)
{
        RingFit fit = { .fits = cut_layers(ring, problem, goal, solution) };
        int r = -EAGAIN;

        if (!should_arrange(ring))
                return fit;
        if (!fit.fits || interval_of(ring, problem, goal, solution) > ring->ideal_nsec * (1 + ALD_PLAN_TIE))
                r = arrange_stages(ring, problem, goal, enough_nsec, solution, &fit.is_least);
        ring->is_tight = !fit.fits && r == -EAGAIN && !has_plan && goal->in_flight == 1 &&
                         isinf(goal->busiest_nsec);
        if (ring->is_tight)
                r = arrange_stages(ring, problem, goal, enough_nsec, solution, &fit.is_least);
        fit.is_arranged = r >= 0;
        fit.is_hopeless = r == -ENOSPC;
        if (fit.is_arranged)
                fit.fits = cut_layers(ring, problem, goal, solution);
        return fit;
}

/* Searches for stages, with the solver assuming that layers have the size of this run. Returns whether the
 * result is proven to be the best, or searching with another run is pointless. */
static bool try_run(Ring *ring, AldPlanLayerRun run, const RingGoal *goal, double enough_nsec,
        AldPlanSteps *best, double *ret_lower_nsec)
{
        const AldPlacementProblem problem = prepare_problem(ring, run);
        AldPlacementSolution solution;
        double solved_nsec, least_nsec, excess_nsec;
        RingFit fit;

        if (find_solution(ring, &problem, goal, enough_nsec, &solution, ret_lower_nsec) < 0)
                return true;
        solved_nsec = solution.nsec;
        least_nsec = interval_of(ring, &problem, goal, &solution);
        if (run == ALD_PLAN_RUN_SMALLEST)
                ring->ideal_nsec = least_nsec;
        fit = fit_layers(ring, &problem, goal, enough_nsec, best->stages, &solution);
        if (fit.is_hopeless)
                *ret_lower_nsec = INFINITY;
        if (fit.is_least && goal->in_flight == 1)
                *ret_lower_nsec = fmin(fit.fits ? solution.nsec : INFINITY, enough_nsec);
        if (!fit.fits) {
                ald_placement_solution_clear(&solution);
                return false;
        }
        if (!fit.is_arranged)
                excess_nsec = solution.nsec - solved_nsec;
        else
                excess_nsec = fit.is_least ? 0 : interval_of(ring, &problem, goal, &solution) - least_nsec;
        keep_better(ring, &problem, goal->in_flight, &solution, best);
        return excess_nsec <= 0;
}

/* Searches for a ring. Returns a lower bound, which is that of the smallest run, since no cut of the layers
 * has room for more layers. */
static double try_ring(Ring *ring, const RingGoal *goal, double enough_nsec, AldPlanSteps *best)
{
        double lower_nsec, ignored;

        if (!try_run(ring, ALD_PLAN_RUN_SMALLEST, goal, enough_nsec, best, &lower_nsec))
                (void) try_run(ring, ALD_PLAN_RUN_LARGEST, goal, enough_nsec, best, &ignored);
        return lower_nsec;
}

/* Returns a lower bound as try_ring() does, without making a plan. */
static double bound_ring(Ring *ring, const RingGoal *goal, double enough_nsec)
{
        const AldPlacementProblem problem = prepare_problem(ring, ALD_PLAN_RUN_SMALLEST);
        AldPlacementSolution solution;
        double lower_nsec;

        if (find_solution(ring, &problem, goal, enough_nsec, &solution, &lower_nsec) >= 0)
                ald_placement_solution_clear(&solution);
        return lower_nsec;
}

/*
 * Returns a lower bound on the interval of all rings with this many steps under way, from the devices alone:
 * a step takes at least as long as all layers on the fastest device, and the busiest stage at least as long
 * as if the layers were spread over all devices as evenly as possible.
 */
static double least_interval(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t in_flight)
{
        const double layers = (double) candidates->request->workload->layers;
        double layer = INFINITY, head = INFINITY, below = 0, above;

        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_allows(choice, i)) {
                        layer = fmin(layer, candidates->layer_nsec[i]);
                        head = fmin(head, candidates->head_nsec[i]);
                }
        above = layers * layer;
        for (unsigned round = 0; in_flight > 1 && round < HALVINGS; round++) {
                double middle = (below + above) / 2, room = 0;

                for (uint32_t i = 0; i < candidates->n; i++)
                        if (ald_plan_allows(choice, i))
                                room += floor(middle / candidates->layer_nsec[i]);
                if (room < layers)
                        below = middle;
                else
                        above = middle;
        }
        return fmax(layers * layer + head, in_flight * below) * (1 - ROUNDING);
}

static double interval_to_beat(const AldPlanSteps *best)
{
        return best->stages ? best->interval_nsec : INFINITY;
}

/* Finds some ring quickly if there is no plan yet, so that there is one when time is up. Returns a lower
 * bound, or 0. */
static double try_quickly(Ring *ring, const RingGoal *goal, AldPlanSteps *best)
{
        const RingGoal first = { .in_flight = 1, .busiest_nsec = INFINITY, .quick = true };
        double lower_nsec;

        if (ring->candidates->progress->may_stop || best->stages || goal->in_flight > 1 ||
                isfinite(goal->busiest_nsec) || ring->choice->around || ring->n <= QUICK_MAX ||
                !ald_plan_required_nodes_are_ensured(ring->candidates, ring->choice))
                return 0;
        lower_nsec = try_ring(ring, &first, INFINITY, best);
        /* The main search is to have all of its work. */
        ring->arrange_work = 0;
        return isfinite(lower_nsec) ? lower_nsec : 0;
}

static void try_vendor(const AldPlanCandidates *candidates, const AldPlanChoice *choice, const char *vendor,
        const RingGoal *goal, AldPlanSteps *best)
{
        g_auto(Ring) ring = { 0 };
        double quick_nsec, lower_nsec;

        ring_init(&ring, candidates, choice, vendor);
        quick_nsec = try_quickly(&ring, goal, best);
        candidates->progress->may_stop |= best->stages &&
                                          ald_plan_required_nodes_are_ensured(candidates, choice);
        /* A bound that equals the time of the plan proves that it is the best. */
        lower_nsec = best->stages && quick_nsec >= best->nsec
                             ? quick_nsec
                             : fmax(quick_nsec, try_ring(&ring, goal, interval_to_beat(best), best));
        candidates->progress->may_stop |= best->stages &&
                                          ald_plan_required_nodes_are_ensured(candidates, choice);
        /* With one step, paths do not matter here: a step takes longer than it occupies any path. */
        if (goal->in_flight > 1 && do_paths_differ(&ring)) {
                set_hops(&ring, RING_PATHS_WIDE);
                try_ring(&ring, goal, interval_to_beat(best), best);
                set_hops(&ring, RING_PATHS_BOTH);
                lower_nsec = bound_ring(&ring, goal, interval_to_beat(best));
        }
        lower_nsec = fmax(lower_nsec, least_interval(candidates, choice, goal->in_flight));
        best->lower_nsec = fmin(best->lower_nsec, lower_nsec);
}

static bool is_first_of_vendor(const AldPlanCandidates *candidates, uint32_t candidate)
{
        const char *vendor = ald_plan_candidate_device(candidates, candidate)->vendor;

        for (uint32_t i = 0; i < candidate; i++)
                if (ald_plan_has_vendor(candidates, i, vendor))
                        return false;
        return true;
}

/* Returns whether a required candidate is of another vendor, so that no ring of this vendor is a plan. */
static bool lacks_required(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, const char *vendor)
{
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_requires(candidates, choice, i) && !ald_plan_has_vendor(candidates, i, vendor))
                        return true;
        return false;
}

static void try_vendors(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        const RingGoal *goal, AldPlanSteps *best)
{
        for (uint32_t i = 0; i < candidates->n; i++) {
                const char *vendor = ald_plan_candidate_device(candidates, i)->vendor;

                if (!is_first_of_vendor(candidates, i) || lacks_required(candidates, choice, vendor))
                        continue;
                if (!ald_plan_progress_may_continue(candidates->progress)) {
                        best->lower_nsec = fmin(
                                best->lower_nsec, least_interval(candidates, choice, goal->in_flight));
                        return;
                }
                try_vendor(candidates, choice, vendor, goal, best);
        }
}

/* Returns a lower bound for this or a greater number of steps under way, since steps of fewer requests take
 * less time. */
static double bound_in_flight(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t in_flight)
{
        const RingGoal goal = { .in_flight = 1, .busiest_nsec = INFINITY };
        AldPlanSteps least = { .lower_nsec = INFINITY };
        g_autofree AldPlanStage *stages = NULL;
        g_auto(AldPlanGroup) group = { 0 };

        ald_plan_group_init(&group, candidates, in_flight);
        try_vendors(&group.candidates, choice, &goal, &least);
        stages = least.stages;
        return least.lower_nsec;
}

static uint32_t most_in_flight(const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        uint32_t most = choice->devices_max > 0 ? MIN(choice->devices_max, candidates->n) : candidates->n;

        return (uint32_t) MIN(most, MIN(workload->layers, workload->parallel));
}

static void try_in_flight(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t in_flight, AldPlanSteps *best)
{
        const RingGoal goal = { .in_flight = in_flight, .busiest_nsec = INFINITY };
        g_auto(AldPlanGroup) group = { 0 };

        ald_plan_group_init(&group, candidates, in_flight);
        try_vendors(&group.candidates, choice, &goal, best);
}

/* Lowers the bound to one that holds for all numbers of steps under way, since some were not tried. */
static void bound_untried(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *best)
{
        uint32_t most = most_in_flight(candidates, choice);

        for (uint32_t n = 2; n <= most; n++) {
                g_auto(AldPlanGroup) group = { 0 };

                ald_plan_group_init(&group, candidates, n);
                best->lower_nsec = fmin(best->lower_nsec, least_interval(&group.candidates, choice, n));
        }
}

/* Returns the number of steps under way to try after n: each number up to COUNTED_MAX, then powers of two and
 * the greatest possible number. */
static uint32_t next_in_flight(uint32_t n, uint32_t most)
{
        return n < COUNTED_MAX || n == most ? n + 1 : MIN(2 * n, most);
}

/* Tries several steps under way. */
static void try_any_in_flight(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *best)
{
        uint32_t most = most_in_flight(candidates, choice), before = 1;

        for (uint32_t n = 2; n <= most; n = next_in_flight(n, most)) {
                if (!ald_plan_progress_may_continue(candidates->progress))
                        break;
                /* With the same number of requests in each, more steps only occupy the stages for longer. */
                if (ald_plan_group_requests(candidates, n) == ald_plan_group_requests(candidates, before))
                        continue;
                try_in_flight(candidates, choice, n, best);
                if (n > COUNTED_MAX)
                        best->lower_nsec = fmin(best->lower_nsec, bound_in_flight(candidates, choice, n));
                before = n;
        }
        if (candidates->progress->stopped)
                bound_untried(candidates, choice, best);
}

int ald_ring_plan_within(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        double busiest_nsec, AldPlanSteps *ret)
{
        const RingGoal goal = { .in_flight = 1, .busiest_nsec = busiest_nsec };
        AldPlanSteps best = { .client = ALD_PLAN_NONE, .lower_nsec = INFINITY };

        try_vendors(candidates, choice, &goal, &best);
        if (best.stages)
                best.lower_nsec = fmin(best.lower_nsec, best.nsec);
        *ret = best;
        if (!best.stages)
                return candidates->progress->given_up || candidates->progress->stopped ? -ECANCELED : -ENOSPC;
        return 0;
}

int ald_ring_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        AldPlanSteps best;
        int r = ald_ring_plan_within(candidates, choice, INFINITY, &best);

        if (r >= 0 && ald_plan_required_nodes_are_used(candidates, &best))
                candidates->progress->may_stop = true;
        if (r >= 0 && candidates->request->goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT) {
                if (choice->in_flight == 0)
                        try_any_in_flight(candidates, choice, &best);
                else if (choice->in_flight > 1 && choice->in_flight <= most_in_flight(candidates, choice))
                        try_in_flight(candidates, choice, choice->in_flight, &best);
                best.lower_nsec = fmin(best.lower_nsec, best.interval_nsec);
        }
        *ret = best;
        return r;
}
