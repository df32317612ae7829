/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/plan/arrange.h"
#include "placement/plan/cost.h"

/* An order of devices, of which the first one may have the head of all. */
typedef struct Order {
        uint32_t *devices, n;
        bool head_is_first;
} Order;

/* An order is looked for that takes less than the best one. */
typedef struct Search {
        const AldPlanArrangement *arrangement;
        AldPlanCut *cuts; /* of the stages of an order */
        uint32_t *tried;  /* devices of an order that may be better */
        Order best;
        double best_nsec; /* that it takes, or to beat while none is found */
        bool found;
        double layers_bytes;
        uint32_t *fastest; /* stages of an order, the fastest first */
} Search;

static void search_clear(Search *search)
{
        g_free(search->cuts);
        g_free(search->tried);
        g_free(search->fastest);
        g_free(search->best.devices);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

static AldPlacementRole role_of(const Order *order, uint32_t stage)
{
        uint32_t last = order->head_is_first ? 0 : order->n - 1;

        return (stage == 0 ? ALD_PLACEMENT_FIRST : 0) | (stage == last ? ALD_PLACEMENT_LAST : 0);
}

static uint32_t node_of(const Search *search, uint32_t device)
{
        const uint32_t *nodes = search->arrangement->problem->nodes;

        return nodes ? nodes[device] : device;
}

/* Returns what a stage takes beside its layers. Stages of a node that follow each other share one visit to
 * it. */
static double beside_nsec(const Search *search, const Order *order, uint32_t stage)
{
        const AldPlacementArm *arms = search->arrangement->arms;
        uint32_t device = order->devices[stage], node = node_of(search, device);
        AldPlacementRole roles = ALD_PLACEMENT_PLAIN;
        double use = ald_placement_arm(arms, device, role_of(order, stage))->use_nsec;

        if (stage > 0 && node_of(search, order->devices[stage - 1]) == node)
                return use + ald_placement_arm(arms, device, ALD_PLACEMENT_PLAIN)->after_nsec;
        for (uint32_t i = stage; i < order->n && node_of(search, order->devices[i]) == node; i++)
                roles |= role_of(order, i);
        return use + ald_placement_arm(arms, device, roles)->visit_nsec;
}

static uint32_t count_nodes(const Search *search, const Order *order)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < order->n; i++) {
                bool is_new = true;

                for (uint32_t j = 0; j < i && is_new; j++)
                        is_new = node_of(search, order->devices[j]) != node_of(search, order->devices[i]);
                n += is_new;
        }
        return n;
}

static bool is_allowed(const Search *search, const Order *order)
{
        const AldPlacementProblem *problem = search->arrangement->problem;

        return order->n > 0 && order->n <= problem->layers &&
               (problem->devices_max == 0 || order->n <= problem->devices_max) &&
               (problem->nodes_max == 0 || count_nodes(search, order) <= problem->nodes_max);
}

/* What the layers take at least on stages whose cuts are set: as if each could have as many as fit of the
 * smallest, the fastest first. INFINITY: these do not have room for all. */
static double least_nsec(Search *search, uint32_t n)
{
        const AldPlanCut *cuts = search->cuts;
        uint64_t left = search->arrangement->problem->layers - n;
        double nsec = 0;

        for (uint32_t i = 0, at; i < n; i++) {
                for (at = i; at > 0 && cuts[search->fastest[at - 1]].layer_nsec > cuts[i].layer_nsec; at--)
                        search->fastest[at] = search->fastest[at - 1];
                search->fastest[at] = i;
        }
        for (uint32_t i = 0; i < n; i++) {
                const AldPlanCut *cut = &cuts[search->fastest[i]];
                uint64_t more = cut->layers_max > 0 ? MIN(left, cut->layers_max - 1) : 0;

                nsec += (double) (1 + more) * cut->layer_nsec;
                left -= more;
        }
        return left > 0 ? INFINITY : nsec;
}

/* What an order takes, whose cuts are set to its layers. INFINITY: they do not fit, or it is seen before the
 * layers are cut that it takes no less than the best one. */
static double measure(Search *search, const Order *order)
{
        const AldPlanArrangement *arrangement = search->arrangement;
        const AldPlacementProblem *problem = arrangement->problem;
        double nsec = 0, room = 0;

        *arrangement->work += order->n;
        if (!is_allowed(search, order))
                return INFINITY;
        for (uint32_t i = 0; i < order->n; i++) {
                search->cuts[i] = arrangement->cuts[(size_t) order->devices[i] * ALD_PLACEMENT_N_ROLES +
                                                    role_of(order, i)];
                nsec += beside_nsec(search, order, i);
                room += fmax(search->cuts[i].room, 0);
        }
        if (room < search->layers_bytes || nsec + least_nsec(search, order->n) >= search->best_nsec)
                return INFINITY;
        *arrangement->work += (uint64_t) order->n * problem->layers;
        if (!ald_plan_cut(arrangement->request, search->cuts, order->n, false))
                return INFINITY;
        for (uint32_t i = 0; i < order->n; i++)
                nsec += search->cuts[i].layers * search->cuts[i].layer_nsec;
        return nsec;
}

static bool goes_on(const Search *search)
{
        return *search->arrangement->work < search->arrangement->work_max &&
               search->best_nsec > search->arrangement->aim_nsec * (1 + ALD_PLAN_TIE);
}

/* Takes the devices in `tried` as the best order if they take less. */
static bool try_order(Search *search, uint32_t n)
{
        const Order order = { search->tried, n, search->best.head_is_first };
        double nsec = measure(search, &order);

        if (!(nsec < search->best_nsec * (1 - ALD_PLAN_TIE)))
                return false;
        memcpy(search->best.devices, search->tried, n * sizeof *search->tried);
        search->best.n = n;
        search->best_nsec = nsec;
        search->found = true;
        return true;
}

/* Sets `tried` to the best order without `out` of its stages from `at` on. Returns how many devices are left.
 */
static uint32_t take_out(Search *search, uint32_t at, uint32_t out)
{
        const Order *best = &search->best;

        memcpy(search->tried, best->devices, at * sizeof *best->devices);
        memcpy(&search->tried[at], &best->devices[at + out], (best->n - at - out) * sizeof *best->devices);
        return best->n - out;
}

/* Puts a device before what stands there. */
static void put_in(Search *search, uint32_t n, uint32_t at, uint32_t device)
{
        memmove(&search->tried[at + 1], &search->tried[at], (n - at) * sizeof *search->tried);
        search->tried[at] = device;
}

static bool is_used(const Search *search, uint32_t device)
{
        for (uint32_t i = 0; i < search->best.n; i++)
                if (search->best.devices[i] == device)
                        return true;
        return false;
}

/* Each of these returns whether it found less. */

static bool try_without(Search *search)
{
        for (uint32_t at = 0; at < search->best.n && goes_on(search); at++)
                if (!search->arrangement->problem->devices[search->best.devices[at]].required &&
                        try_order(search, take_out(search, at, 1)))
                        return true;
        return false;
}

static bool try_elsewhere(Search *search)
{
        for (uint32_t at = 0; at < search->best.n; at++)
                for (uint32_t to = 0; to < search->best.n && goes_on(search); to++) {
                        uint32_t device = search->best.devices[at], n = take_out(search, at, 1);

                        if (to == at)
                                continue;
                        put_in(search, n, to, device);
                        if (try_order(search, n + 1))
                                return true;
                }
        return false;
}

/* A device more, or with `out`, instead of another one. */
static bool try_another(Search *search, uint32_t out)
{
        const AldPlacementProblem *problem = search->arrangement->problem;

        for (uint32_t device = 0; device < problem->n_devices; device++)
                for (uint32_t at = 0; at + out <= search->best.n && goes_on(search); at++) {
                        uint32_t n;

                        if (is_used(search, device) ||
                                (out > 0 && problem->devices[search->best.devices[at]].required))
                                continue;
                        n = take_out(search, at, out);
                        put_in(search, n, at, device);
                        if (try_order(search, n + 1))
                                return true;
                }
        return false;
}

static void improve(Search *search)
{
        while (goes_on(search) && (try_without(search) || try_elsewhere(search) || try_another(search, 1) ||
                                          try_another(search, 0)))
                ;
}

/* Sets the best order to one with as many devices as there may be, in which the head is where it was. */
static void add_all(Search *search)
{
        const AldPlacementProblem *problem = search->arrangement->problem;
        uint64_t most = problem->devices_max > 0 ? MIN(problem->devices_max, problem->layers)
                                                 : problem->layers;
        double nsec;

        for (uint32_t i = 0; i < problem->n_devices && search->best.n < most; i++) {
                uint32_t at = search->best.n - !search->best.head_is_first;

                if (is_used(search, i) ||
                        isinf(ald_placement_arm(search->arrangement->arms, i, ALD_PLACEMENT_PLAIN)->use_nsec))
                        continue;
                search->best.devices[search->best.n++] = search->best.devices[at];
                search->best.devices[at] = i;
        }
        nsec = measure(search, &search->best);
        search->found = nsec < search->best_nsec;
        search->best_nsec = fmin(nsec, search->best_nsec);
}

static void search_init(
        Search *search, const AldPlanArrangement *arrangement, const AldPlacementStarSolution *solution)
{
        const AldPlacementProblem *problem = arrangement->problem;

        *search = (Search){ .arrangement = arrangement,
                .cuts = g_new(AldPlanCut, problem->n_devices + 1),
                .tried = g_new(uint32_t, problem->n_devices + 1),
                .best = { .devices = g_new(uint32_t, problem->n_devices + 1),
                        .n = solution->n_stages,
                        .head_is_first = solution->last + 1 < solution->n_stages },
                .best_nsec = INFINITY,
                .layers_bytes = (double) ald_plan_layers_bytes(
                        arrangement->request, ALD_PLAN_RUN_FIRST, (uint32_t) problem->layers),
                .fastest = g_new(uint32_t, problem->n_devices + 1) };
        for (uint32_t i = 0; i < solution->n_stages; i++)
                search->best.devices[i] = solution->stages[i].device;
}

bool ald_plan_arrange(const AldPlanArrangement *arrangement, AldPlacementStarSolution *solution)
{
        g_auto(Search) search = { 0 };
        double nsec;

        search_init(&search, arrangement, solution);
        nsec = measure(&search, &search.best);
        search.best_nsec = fmin(nsec, arrangement->below_nsec);
        improve(&search);
        if (!search.found && isinf(nsec)) {
                add_all(&search);
                improve(&search);
        }
        if (!search.found)
                return false;
        solution->nsec = search.best_nsec;
        search.best_nsec = INFINITY;
        (void) measure(&search, &search.best);
        g_free(solution->stages);
        solution->n_stages = search.best.n;
        solution->stages = g_new(AldPlacementStage, search.best.n);
        for (uint32_t i = 0; i < search.best.n; i++)
                solution->stages[i] = (AldPlacementStage){ .device = search.best.devices[i],
                        .layers = search.cuts[i].layers };
        solution->last = search.best.head_is_first ? 0 : search.best.n - 1;
        return true;
}
