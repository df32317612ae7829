/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "placement/layers/arrange.h"
#include "placement/layers/stage.h"
#include "placement/method/plan-connection.h"
#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"
#include "placement/star.h"

#define WORK_MAX UINT64_C(100000000) /* cells of all problems together: about a second */
/* Further cells, for stages near those of solutions: this number and a share of the solver's cells, so that
 * the solver takes most of the time. If the layers fit on none of its solutions, ARRANGE_MOST, which takes
 * some 10 ms. */
#define ARRANGE_LEAST UINT64_C(10000)
#define ARRANGE_SHARE 8u
#define ARRANGE_MOST UINT64_C(1000000)
#define ARRANGE_ALL 32u /* devices */
/* Steps of some ns on finding any stages on which the layers fit, if the solver finds none. */
#define FIT_LEAST UINT64_C(100000)
#define FIT_MOST UINT64_C(30000000)

/* Ways to use the devices, which differ in what the client does. */
typedef enum StarWay {
        STAR_ALONE,   /* one device has all layers */
        STAR_BEHIND,  /* the client's processor has the first layers, and perhaps the head as well */
        STAR_SERVERS, /* devices other than the client's processor have all layers */
        STAR_N_WAYS,
} StarWay;

/* A client and a way, and a lower bound on their time. */
typedef struct StarTrial {
        uint32_t client;
        uint32_t place; /* place of the client among the candidates */
        StarWay way;
        double bound_nsec;
} StarTrial;

/* The candidates that may be used, measured for one client after the other. */
typedef struct Star {
        const AldPlanCandidates *candidates;
        const AldPlanChoice *choice;
        uint32_t n;
        uint32_t *members; /* candidates */
        AldPlacementDevice *devices;
        uint32_t *nodes;
        uint32_t *on_node;  /* [node of the cluster]: number of members */
        double *use_nsec;   /* [member][role]: for this client */
        double *visit_nsec; /* [member][role]: visit to its node, for this client */
        double *after_nsec; /* [member]: use after another device of its node, for this client */
        uint32_t client;
        AldPlanLayerRun run; /* run that the solver assumes for layers between the ends, since it is unknown
                                which ones a device gets */
        AldPlacementRoleCost *role_costs; /* [member][role]: for this client and way */
        GArray *trials;
        double price_nsec;     /* price of a device, for bounds */
        double ideal_nsec;     /* of the trial: the least possible, if the layers fit as the solver assumes */
        uint64_t work;         /* work of the solver */
        uint64_t arrange_work; /* work on stages near its solutions, of all trials together */
        bool is_tight;         /* the layers fit on none of the solutions that were found */
} Star;

static void star_clear(Star *star)
{
        g_free(star->members);
        g_free(star->devices);
        g_free(star->nodes);
        g_free(star->on_node);
        g_free(star->use_nsec);
        g_free(star->visit_nsec);
        g_free(star->after_nsec);
        g_free(star->role_costs);
        g_array_unref(star->trials);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Star, star_clear)

static void star_init(Star *star, const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        size_t n = candidates->n;

        *star = (Star){ .candidates = candidates,
                .choice = choice,
                .members = g_new(uint32_t, n),
                .devices = g_new(AldPlacementDevice, n),
                .nodes = g_new(uint32_t, n),
                .on_node = g_new0(uint32_t, candidates->cluster->n_nodes),
                .use_nsec = g_new(double, n *ALD_PLACEMENT_N_ROLES),
                .visit_nsec = g_new(double, n *ALD_PLACEMENT_N_ROLES),
                .after_nsec = g_new(double, n),
                .client = ALD_PLAN_NONE,
                .role_costs = g_new(AldPlacementRoleCost, n * ALD_PLACEMENT_N_ROLES),
                .price_nsec = NAN,
                .trials = g_array_new(false, false, sizeof(StarTrial)) };
        for (uint32_t i = 0; i < candidates->n; i++) {
                if (!ald_plan_allows(choice, i))
                        continue;
                star->nodes[star->n] = ald_plan_candidate_device(candidates, i)->node;
                star->on_node[star->nodes[star->n]]++;
                star->devices[star->n] = ald_plan_stage_device(candidates, choice, i, ALD_PLAN_RUN_SMALLEST);
                star->members[star->n++] = i;
        }
}

/* Returns whether the member is the client's processor, whose layers come first since nothing is sent to
 * it. */
static bool is_client_processor(const Star *star, uint32_t member)
{
        return star->nodes[member] == star->client &&
               ald_plan_candidate_device(star->candidates, star->members[member])->is_processor;
}

static AldPlanConnection connection_to(const Star *star, uint32_t node, AldPlacementRole role)
{
        const AldPlanRequest *request = star->candidates->request;

        return ald_plan_connection_find(star->candidates, star->choice, star->client, node,
                ald_plan_star_bytes(&request->constants, request->workload, role & ALD_PLACEMENT_FIRST),
                role & ALD_PLACEMENT_LAST ? ald_plan_result_bytes(&request->constants, request->workload)
                                          : star->candidates->activation_bytes,
                request->constants.values[ALD_PLAN_STAR_ROUND_TRIPS] - 1);
}

/* Returns the time of the transfers and of the server for them. */
static double hop_nsec(const Star *star, const AldPlanConnection *connection)
{
        return ald_plan_connection_nsec(connection) +
               star->candidates->request->constants.values[ALD_PLAN_STAR_SERVER_NSEC];
}

static double transfer_nsec(const Star *star, uint32_t node, AldPlacementRole role)
{
        AldPlanConnection connection = connection_to(star, node, role);

        return hop_nsec(star, &connection);
}

/* Returns the time of a layer with this client, whose own processor computes differently from a server. */
static double layer_nsec(const Star *star, uint32_t member)
{
        const AldPlanRequest *request = star->candidates->request;
        uint32_t candidate = star->members[member];

        return is_client_processor(star, member)
                       ? ald_plan_client_layer_nsec(&request->constants,
                                 ald_plan_candidate_device(star->candidates, candidate), request->workload)
                       : star->candidates->layer_nsec[candidate];
}

static double head_nsec(const Star *star, uint32_t member)
{
        const AldPlanRequest *request = star->candidates->request;
        uint32_t candidate = star->members[member];

        return is_client_processor(star, member)
                       ? ald_plan_client_head_nsec(&request->constants,
                                 ald_plan_candidate_device(star->candidates, candidate), request->workload)
                       : star->candidates->head_nsec[candidate];
}

/* Returns the time from one device of a node to the next. The server copies the activations when the client
 * requests it, and replies. Leaving the node and coming back is an upper bound. */
static double after_nsec(const Star *star, uint32_t member)
{
        const AldPlanRequest *request = star->candidates->request;
        const double *visits = &star->visit_nsec[(size_t) member * ALD_PLACEMENT_N_ROLES];
        AldPlanConnection empty;

        if (star->nodes[member] == star->client || star->on_node[star->nodes[member]] < 2 ||
                isinf(visits[ALD_PLACEMENT_PLAIN]))
                return 0;
        empty = ald_plan_connection_find(
                star->candidates, star->choice, star->client, star->nodes[member], 0, 0, 0);
        return fmin(request->constants.values[ALD_PLAN_INNER_HOP_NSEC] + ald_plan_connection_nsec(&empty),
                visits[ALD_PLACEMENT_FIRST] + visits[ALD_PLACEMENT_LAST] - visits[ALD_PLACEMENT_BOTH]);
}

static void set_client(Star *star, uint32_t client)
{
        if (star->client == client)
                return;
        star->client = client;
        for (uint32_t i = 0; i < star->n; i++) {
                star->devices[i].layer_nsec = layer_nsec(star, i);
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        size_t at = (size_t) i * ALD_PLACEMENT_N_ROLES + role;

                        star->use_nsec[at] = role & ALD_PLACEMENT_LAST ? head_nsec(star, i) : 0;
                        star->visit_nsec[at] = star->nodes[i] == client
                                                       ? 0
                                                       : transfer_nsec(star, star->nodes[i], role);
                }
                star->after_nsec[i] = after_nsec(star, i);
        }
}

static bool may_have_role(const Star *star, StarWay way, uint32_t member, AldPlacementRole role)
{
        if (way == STAR_ALONE)
                return role == ALD_PLACEMENT_BOTH;
        if (way == STAR_SERVERS)
                return role != ALD_PLACEMENT_BOTH && !is_client_processor(star, member);
        return is_client_processor(star, member) == !!(role & ALD_PLACEMENT_FIRST);
}

/* Returns what the stage holds beside its layers: the head, and in the memory of the client's host also the
 * embedding. */
static uint64_t bytes_beside(const Star *star, uint32_t member, AldPlacementRole role)
{
        const AldPlanWorkload *workload = star->candidates->request->workload;
        const AldPlanDevice *device = ald_plan_candidate_device(star->candidates, star->members[member]);

        return (role & ALD_PLACEMENT_LAST ? workload->head_bytes : 0) +
               (device->node == star->client && device->uses_host_memory ? workload->embedding_bytes : 0);
}

static uint32_t copies_of(StarWay way)
{
        return way == STAR_SERVERS ? ALD_PLAN_COPIES_MAX : 1;
}

/* Returns the buffers of a stage in this way and role; layers is 0 if they are unknown. */
static double buffer_bytes(const Star *star, StarWay way, uint32_t member, AldPlacementRole role,
        uint32_t layers, bool may_be_last)
{
        const AldPlanRequest *request = star->candidates->request;
        const AldPlanDevice *device = ald_plan_candidate_device(star->candidates, star->members[member]);
        uint32_t copies = copies_of(way);
        bool is_client = is_client_processor(star, member);
        double bytes = ald_plan_device_buffer_bytes(
                request, (AldPlanBufferUse){ .layers = layers,
                                 .copies = copies,
                                 .is_client = is_client,
                                 .is_first = role & ALD_PLACEMENT_FIRST && !is_client,
                                 .has_head = role & ALD_PLACEMENT_LAST,
                                 .may_be_last = may_be_last });

        if (is_client)
                return bytes + ald_plan_results_bytes(request);
        /* A GPU of the client that uses host memory shares it with the client's buffer. */
        return device->node == star->client && device->uses_host_memory
                       ? bytes + ald_plan_client_buffer_bytes(request, copies)
                       : bytes;
}

/* Returns the run of layers in a role. The first device has the first layers, even if it is the client's
 * processor, which may have the head, too. */
static AldPlanLayerRun run_of(AldPlacementRole role, AldPlanLayerRun between)
{
        if (role & ALD_PLACEMENT_FIRST)
                return ALD_PLAN_RUN_FIRST;
        return role & ALD_PLACEMENT_LAST ? ALD_PLAN_RUN_LAST : between;
}

static AldPlacementProblem prepare_problem(Star *star, uint32_t client, StarWay way)
{
        set_client(star, client);
        for (uint32_t i = 0; i < star->n; i++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        size_t at = i * ALD_PLACEMENT_N_ROLES + role;

                        star->role_costs[at] = (AldPlacementRoleCost){ .use_nsec = INFINITY,
                                .visit_nsec = star->visit_nsec[at],
                                .after_nsec = star->after_nsec[i] };
                        if (isinf(star->visit_nsec[at]) || !may_have_role(star, way, i, role))
                                continue;
                        star->role_costs[at].use_nsec = star->use_nsec[at];
                        star->role_costs[at].layers_max = ald_plan_stage_layers_max_with(star->candidates,
                                star->members[i], run_of(role, star->run), bytes_beside(star, i, role),
                                buffer_bytes(star, way, i, role, 0, true));
                }
        return (AldPlacementProblem){ .layers = star->candidates->request->workload->layers,
                .n_devices = star->n,
                .devices = star->devices,
                .devices_max = star->choice->devices_max,
                .nodes = star->nodes,
                .nodes_max = star->choice->nodes_max,
                .proceed = ald_plan_progress_proceed,
                .userdata = star->candidates->progress };
}

static AldPlanStage stage_of(
        const Star *star, StarWay way, const AldPlacementStage *stage, AldPlacementRole role, bool is_last)
{
        uint32_t member = stage->device;
        const AldPlanCandidates *candidates = star->candidates;
        bool has_head = role & ALD_PLACEMENT_LAST;
        AldPlanStage made = ald_plan_stage(candidates, star->members[member], stage->layers,
                bytes_beside(star, member, role & ~ALD_PLACEMENT_LAST), has_head);

        made.nsec = stage->layers * layer_nsec(star, member) + (has_head ? head_nsec(star, member) : 0);
        if (is_client_processor(star, member))
                made.is_computing = ald_plan_client_is_computing_longer(&candidates->request->constants,
                        &candidates->cluster->devices[made.device], candidates->request->workload);
        made.buffer_bytes = (uint64_t) buffer_bytes(star, way, member, role, stage->layers, is_last);
        return made;
}

static AldPlacementRole role_of(const AldPlacementStarSolution *solution, uint32_t stage)
{
        return (stage == 0 ? ALD_PLACEMENT_FIRST : 0) | (stage == solution->last ? ALD_PLACEMENT_LAST : 0);
}

static AldPlanStageCut cut_of(const Star *star, StarWay way, uint32_t member, AldPlacementRole role)
{
        AldPlanStageCut cut = ald_plan_stage_cut(star->candidates, star->members[member],
                bytes_beside(star, member, role), buffer_bytes(star, way, member, role, 0, true));

        cut.layer_nsec = star->devices[member].layer_nsec;
        return cut;
}

/* Gives each stage the layers that fit, now that it is known which layers it has. Returns whether all fit. */
static bool cut_layers(const Star *star, StarWay way, AldPlacementStarSolution *solution)
{
        g_autofree AldPlanStageCut *cuts = g_new(AldPlanStageCut, solution->n_stages);

        for (uint32_t i = 0; i < solution->n_stages; i++)
                cuts[i] = cut_of(star, way, solution->stages[i].device, role_of(solution, i));
        return ald_plan_stages_cut(star->candidates->request, star->choice, cuts, solution->stages,
                solution->n_stages, &solution->nsec);
}

/* Sets the transfers of a stage. Those of a visit to a node belong to its first stage there; further stages
 * follow within the node. */
static void set_hops(
        const Star *star, const AldPlacementStarSolution *solution, uint32_t index, AldPlanStage *stage)
{
        const AldPlacementStage *stages = solution->stages;
        uint32_t member = stages[index].device, node = star->nodes[member];
        AldPlacementRole roles = index == 0 ? ALD_PLACEMENT_FIRST : ALD_PLACEMENT_PLAIN;
        AldPlanConnection connection;

        if (node == star->client)
                return;
        if (index > 0 && star->nodes[stages[index - 1].device] == node) {
                stage->bytes_to = star->candidates->activation_bytes;
                stage->nsec_to = stage->hop_nsec = star->after_nsec[member];
                return;
        }
        for (uint32_t i = index; i < solution->n_stages && star->nodes[stages[i].device] == node; i++)
                roles |= i == solution->last ? ALD_PLACEMENT_LAST : ALD_PLACEMENT_PLAIN;
        connection = connection_to(star, node, roles);
        stage->bytes_to = connection.bytes_to;
        stage->bytes_from = connection.bytes_from;
        stage->nsec_to = connection.nsec_to;
        stage->nsec_from = connection.nsec_from;
        stage->hop_nsec = hop_nsec(star, &connection);
        stage->path_to = connection.path_to;
        stage->path_from = connection.path_from;
}

static void keep_solution(
        const Star *star, StarWay way, const AldPlacementStarSolution *solution, AldPlanSteps *ret)
{
        double lower_nsec = ret->lower_nsec;

        ald_plan_steps_clear(ret);
        *ret = (AldPlanSteps){ .stages = g_new(AldPlanStage, solution->n_stages),
                .n_stages = solution->n_stages,
                .client = star->client,
                .nsec = solution->nsec,
                .in_flight = 1,
                .interval_nsec = solution->nsec,
                .lower_nsec = lower_nsec };
        for (uint32_t i = 0; i < solution->n_stages; i++) {
                ret->stages[i] = stage_of(
                        star, way, &solution->stages[i], role_of(solution, i), i == solution->n_stages - 1);
                set_hops(star, solution, i, &ret->stages[i]);
                ret->busiest_nsec = fmax(ret->busiest_nsec, ret->stages[i].nsec);
                ret->hops_nsec += ret->stages[i].hop_nsec;
        }
        ald_plan_stages_set_layers(star->candidates->request, ret->stages, ret->n_stages);
}

/* Returns the time that stages take beside their layers, for the current client and way. */
static double beside_nsec(const void *userdata, const AldStageOrder *order, double *ret_occupy_nsec)
{
        const Star *star = userdata;
        double nsec = 0;

        *ret_occupy_nsec = 0;
        for (uint32_t stage = 0; stage < order->n; stage++) {
                uint32_t device = order->devices[stage], node = star->nodes[device];
                AldPlacementRole roles = ALD_PLACEMENT_PLAIN;

                nsec += ald_placement_role_cost(star->role_costs, device, ald_stage_order_role(order, stage))
                                ->use_nsec;
                /* Stages of a node that follow each other share one visit to it. */
                if (stage > 0 && star->nodes[order->devices[stage - 1]] == node) {
                        nsec += ald_placement_role_cost(star->role_costs, device, ALD_PLACEMENT_PLAIN)
                                        ->after_nsec;
                        continue;
                }
                for (uint32_t i = stage; i < order->n && star->nodes[order->devices[i]] == node; i++)
                        roles |= ald_stage_order_role(order, i);
                nsec += ald_placement_role_cost(star->role_costs, device, roles)->visit_nsec;
        }
        return nsec;
}

/* Returns whether stages near those of the solver are tried: for the plan itself and its alternatives, and
 * in small clusters also for plans with each device that is left out, which would take too long in large
 * ones. */
static bool should_arrange(const Star *star)
{
        return star->candidates->request->sizes && (star->choice->level || star->n <= ARRANGE_ALL);
}

/* Searches for stages near those of the solution that take less time, also less than below_nsec. Returns
 * -EAGAIN if none are found, and -ENOSPC if the layers fit on none. */
static int arrange_stages(Star *star, StarWay way, const AldPlacementProblem *problem, double below_nsec,
        AldPlacementStarSolution *solution)
{
        g_autofree AldPlanStageCut *cuts = g_new0(AldPlanStageCut, (size_t) star->n * ALD_PLACEMENT_N_ROLES);
        bool is_thorough = star->is_tight && star->choice->level;
        const AldPlanArrangement arrangement = { .request = star->candidates->request,
                .problem = problem,
                .cuts = cuts,
                .beside_nsec = beside_nsec,
                .topology = star,
                .steps = 1,
                .occupy_max_nsec = INFINITY,
                .may_head_be_first = way == STAR_BEHIND,
                .ideal_nsec = star->ideal_nsec,
                .below_nsec = below_nsec,
                .work = &star->arrange_work,
                .work_max = (is_thorough ? ARRANGE_MOST : ARRANGE_LEAST) + star->work / ARRANGE_SHARE,
                .fit_work_max = (is_thorough ? FIT_MOST : FIT_LEAST) / star->trials->len };
        AldPlacementSolution changed = { solution->stages, solution->n_stages, solution->nsec };
        bool head_is_first = solution->last + 1 < solution->n_stages, is_least;
        int r;

        if (star->arrange_work >= arrangement.work_max)
                return -EAGAIN;
        for (uint32_t i = 0; i < star->n; i++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        size_t at = (size_t) i * ALD_PLACEMENT_N_ROLES + role;

                        if (isinf(star->role_costs[at].use_nsec))
                                continue;
                        cuts[at] = cut_of(star, way, i, role);
                        cuts[at].layers_max = ald_plan_stage_layers_max_with(star->candidates,
                                star->members[i], run_of(role, ALD_PLAN_RUN_SMALLEST),
                                bytes_beside(star, i, role), buffer_bytes(star, way, i, role, 0, true));
                }
        star->arrange_work += (uint64_t) star->n * ALD_PLACEMENT_N_ROLES;
        r = ald_plan_arrange(&arrangement, &changed, &head_is_first, &is_least);
        if (r < 0)
                return r;
        *solution = (AldPlacementStarSolution){ .stages = changed.stages,
                .n_stages = changed.n_stages,
                .last = head_is_first ? 0 : changed.n_stages - 1,
                .nsec = changed.nsec };
        return cut_layers(star, way, solution) ? 0 : -EAGAIN;
}

/* Searches for stages that take less than the best, with the solver assuming that layers have the size of
 * this run. Sets whether other stages may take less than those found. */
static int try_run(Star *star, const StarTrial *trial, AldPlanLayerRun run, AldPlanSteps *best,
        double *ret_lower_nsec, bool *ret_may_improve)
{
        AldPlacementProblem problem;
        AldPlacementStarSolution solution;
        double below_nsec = best->stages ? best->nsec : INFINITY, solved_nsec;
        bool fits;
        int r, r_arrange = -EAGAIN;

        star->run = run;
        problem = prepare_problem(star, trial->client, trial->way);
        r = ald_placement_solve_star(
                &problem, star->role_costs, below_nsec, &star->work, &solution, ret_lower_nsec);
        if (r < 0)
                return r;
        solved_nsec = solution.nsec;
        if (run == ALD_PLAN_RUN_SMALLEST)
                star->ideal_nsec = solved_nsec;
        fits = cut_layers(star, trial->way, &solution);
        if (should_arrange(star) && (fits ? solution.nsec > star->ideal_nsec * (1 + ALD_PLAN_TIE)
                                          : best->stages || star->is_tight))
                r_arrange = arrange_stages(star, trial->way, &problem, below_nsec, &solution);
        fits |= r_arrange >= 0;
        /* With known buffers this proves nothing, since they may be overestimated until the layers of a
         * device are known. */
        if (r_arrange == -ENOSPC && !ald_plan_buffers_are_known(star->candidates->request))
                *ret_lower_nsec = INFINITY;
        if (fits && solution.nsec < below_nsec)
                keep_solution(star, trial->way, &solution, best);
        *ret_may_improve = !fits || solution.nsec > solved_nsec;
        ald_placement_star_solution_clear(&solution);
        return 0;
}

/* Tries a client and a way that may take less than the best. Returns -E2BIG if the table would be too
 * large. */
static int try_trial(Star *star, const StarTrial *trial, AldPlanSteps *best)
{
        double lower_nsec, ignored;
        bool may_improve;
        int r = try_run(star, trial, ALD_PLAN_RUN_SMALLEST, best, &lower_nsec, &may_improve);

        best->lower_nsec = fmin(best->lower_nsec, lower_nsec);
        if (r < 0 || !may_improve)
                return r;
        return try_run(star, trial, ALD_PLAN_RUN_LARGEST, best, &ignored, &may_improve);
}

/* Returns whether the client's host has room for the embedding and the buffers, which it holds even if all
 * layers are on other devices. */
static bool has_host_room(const Star *star, uint32_t client, StarWay way)
{
        return ald_plan_has_host_room(star->candidates->cluster, client,
                ald_plan_client_host_bytes(star->candidates->request, copies_of(way)));
}

static void add_client(Star *star, uint32_t client)
{
        for (StarWay way = 0; way < STAR_N_WAYS; way++) {
                AldPlacementProblem problem;
                StarTrial trial = { .client = client, .place = star->candidates->places[client], .way = way };

                if (!has_host_room(star, client, way))
                        continue;
                problem = prepare_problem(star, client, way);
                trial.bound_nsec = ald_placement_star_bound(&problem, star->role_costs, &star->price_nsec);
                if (trial.bound_nsec < INFINITY)
                        g_array_append_val(star->trials, trial);
        }
}

static int compare_trials(const void *a, const void *b)
{
        const StarTrial *x = a, *y = b;

        if (x->bound_nsec != y->bound_nsec)
                return x->bound_nsec < y->bound_nsec ? -1 : 1;
        if (x->place != y->place)
                return x->place < y->place ? -1 : 1;
        return (int) x->way - (int) y->way;
}

static int find_trials(Star *star)
{
        const AldPlanCandidates *candidates = star->candidates;
        uint32_t n = candidates->cluster->n_nodes;

        for (uint32_t node = 0; node < n; node++) {
                if (!ald_plan_progress_within(candidates->progress, node, 2 * n))
                        return -ECANCELED;
                /* A client without a candidate would only add transfers. */
                if (star->choice->client == ALD_PLAN_NONE ? ald_plan_has_candidate(candidates, node)
                                                          : star->choice->client == node)
                        add_client(star, node);
        }
        g_array_sort(star->trials, compare_trials);
        return 0;
}

/* Tries the trials in the order of their bounds, until the others cannot take less than the best. */
static int try_trials(Star *star, AldPlanSteps *best)
{
        AldPlanProgress *progress = star->candidates->progress;
        uint32_t n = star->trials->len;
        int r = -ENOSPC;

        for (uint32_t i = 0; i < n; i++) {
                const StarTrial *trial = &g_array_index(star->trials, StarTrial, i);

                if (!ald_plan_progress_within(progress, n + i, 2 * n) && !(best->stages && progress->stopped))
                        return -ECANCELED;
                if (best->stages && trial->bound_nsec >= best->nsec)
                        break;
                if (best->stages && (star->work > WORK_MAX || progress->stopped)) {
                        best->lower_nsec = fmin(best->lower_nsec, trial->bound_nsec);
                        break;
                }
                if (try_trial(star, trial, best) == -E2BIG)
                        r = -E2BIG;
                progress->may_stop |= best->stages &&
                                      ald_plan_required_nodes_are_ensured(star->candidates, star->choice);
        }
        if (!best->stages)
                return r;
        best->lower_nsec = fmin(best->lower_nsec, best->nsec);
        return 0;
}

/*
 * Finds the steps that take the least time for an engine with a client. That is exact unless the work for all
 * clients is too much: then lower_nsec is a lower bound on every plan. Returns -ENOSPC if the layers fit on
 * no choice of devices that a client reaches, or none was found, with lower_nsec INFINITY if there provably
 * is none, and -E2BIG if there are too many devices and layers.
 */
static int find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        g_auto(Star) star = { 0 };
        AldPlanSteps best = { .lower_nsec = INFINITY };
        int r;

        star_init(&star, candidates, choice);
        r = find_trials(&star);
        if (r >= 0)
                r = try_trials(&star, &best);
        if (r == -ENOSPC && should_arrange(&star)) {
                star.is_tight = true;
                best.lower_nsec = INFINITY;
                r = try_trials(&star, &best);
        }
        if (r == -ECANCELED)
                ald_plan_steps_clear(&best);
        *ret = best;
        return r;
}

/* Names the host with the most known free memory. With `alone`, the client has no layers, so that several
 * servers need copies of the inputs. */
static bool refuse_client(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanChoice choice = ald_plan_choice(candidates);
        uint64_t needs = ald_plan_client_host_bytes(candidates->request, alone ? ALD_PLAN_COPIES_MAX : 1);
        uint64_t most = ALD_PLAN_ABSENT;
        const char *best = NULL;

        for (uint32_t i = 0; i < cluster->n_nodes; i++) {
                uint64_t free_bytes = ald_plan_host_free_bytes(cluster, i);

                if (choice.client == ALD_PLAN_NONE ? !ald_plan_has_candidate(candidates, i)
                                                   : choice.client != i)
                        continue;
                if (ald_plan_has_host_room(cluster, i, needs))
                        return false;
                if (best &&
                        (free_bytes == ALD_PLAN_ABSENT || (most != ALD_PLAN_ABSENT && free_bytes <= most)))
                        continue;
                best = cluster->nodes[i].id;
                most = free_bytes;
        }
        if (!best)
                return false;
        *ret_refusal = (AldPlanRefusal){
                .kind = ALD_PLAN_CLIENT_TOO_SMALL, .text = best, .needs_bytes = needs, .free_bytes = most
        };
        return true;
}

/* A client sends the activations to the devices of each node in turn and receives them back. */
const AldPlanMethod ald_star_method = {
        .has_layers = true,
        .spreads_layers = true,
        .is_client_apart = true,
        .judge_work_max = INFINITY,
        .step = "a token",
        .client = "client",
        .client_holds = "buffers",
        .least_part = "One layer",
        .none_fits = "Not one layer fits on any",
        .payload = "activations",
        .result = "logits",
        .find = find_steps,
        .least_bytes = ald_plan_layer_least_bytes,
        .stages_max = ald_plan_layers_stages_max,
        .refuse_client = refuse_client,
};
