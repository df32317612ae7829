/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/layers/arrange.h"
#include "placement/layers/fitting.h"
#include "placement/plan/cost.h"

/* The search for an order of devices that takes less time than the best one. */
typedef struct Search {
        const AldPlanArrangement *arrangement;
        AldPlanStageCut *cuts; /* of the stages of an order */
        uint32_t *tried;       /* devices of the order that is being tried */
        AldStageOrder best;
        uint32_t *layers; /* layers of the stages of the best order, once it is found */
        double best_nsec; /* its time; while none is found, the time to beat */
        double step_nsec; /* time of one step of it, once it is found */
        bool found;
        double layers_bytes;
        uint32_t *fastest; /* stages of an order, the fastest first */
} Search;

static void search_clear(Search *search)
{
        g_free(search->cuts);
        g_free(search->tried);
        g_free(search->fastest);
        g_free(search->layers);
        g_free(search->best.devices);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

/* Returns a lower bound on the time of the layers on stages whose cuts are set, as if each could have as
 * many layers as fit of the smallest, the fastest first. INFINITY if the stages do not have room for all
 * layers. */
static double least_nsec(Search *search, uint32_t n)
{
        const AldPlanStageCut *cuts = search->cuts;
        uint64_t left = search->arrangement->problem->layers - n;
        double nsec = 0;

        for (uint32_t i = 0, at; i < n; i++) {
                for (at = i; at > 0 && cuts[search->fastest[at - 1]].layer_nsec > cuts[i].layer_nsec; at--)
                        search->fastest[at] = search->fastest[at - 1];
                search->fastest[at] = i;
        }
        for (uint32_t i = 0; i < n; i++) {
                const AldPlanStageCut *cut = &cuts[search->fastest[i]];
                uint64_t more = cut->layers_max > 0 ? MIN(left, cut->layers_max - 1) : 0;

                nsec += (double) (1 + more) * cut->layer_nsec;
                left -= more;
        }
        return left > 0 ? INFINITY : nsec;
}

/* Returns for how long a step may occupy a part if the order is to be better than the best one. */
static double busiest_max(const Search *search)
{
        const AldPlanArrangement *arrangement = search->arrangement;

        return arrangement->steps > 1 ? search->best_nsec / arrangement->steps * (1 - 2 * ALD_PLAN_TIE)
                                      : INFINITY;
}

static double head_nsec(const Search *search, const AldStageOrder *order, uint32_t stage)
{
        const double *head = search->arrangement->head_nsec;

        return head && ald_stage_order_role(order, stage) & ALD_PLACEMENT_LAST ? head[order->devices[stage]]
                                                                               : 0;
}

/* Sets the cuts of an order to what its stages may have. Returns their room in all. */
static double set_cuts(Search *search, const AldStageOrder *order)
{
        double busy = busiest_max(search), room = 0;

        for (uint32_t i = 0; i < order->n; i++) {
                AldPlanStageCut *cut = &search->cuts[i];

                *cut = search->arrangement->cuts[(size_t) order->devices[i] * ALD_PLACEMENT_N_ROLES +
                                                 ald_stage_order_role(order, i)];
                room += fmax(cut->room, 0);
                if (isinf(busy))
                        continue;
                busy = fmax(busy, 0);
                cut->layers_max = (uint32_t) fmax(
                        0, fmin(cut->layers_max, (busy - head_nsec(search, order, i)) / cut->layer_nsec));
        }
        return room;
}

/* Returns the time of an order, and sets that of one step and the layers of its stages in the cuts. INFINITY
 * if the layers do not fit, or if the order turns out not to be better than the best one before the layers
 * are cut. */
static double measure_order(Search *search, const AldStageOrder *order, double *ret_step_nsec)
{
        const AldPlanArrangement *arrangement = search->arrangement;
        const AldPlacementProblem *problem = arrangement->problem;
        double nsec, room, busiest;

        *arrangement->work += order->n;
        if (!ald_stage_order_is_allowed(problem, order) || order->n < arrangement->steps)
                return INFINITY;
        nsec = arrangement->beside_nsec(arrangement->topology, order, &busiest);
        if (nsec >= search->best_nsec || busiest > fmin(busiest_max(search), arrangement->occupy_max_nsec))
                return INFINITY;
        room = set_cuts(search, order);
        if (room < search->layers_bytes || nsec + least_nsec(search, order->n) >= search->best_nsec)
                return INFINITY;
        *arrangement->work += (uint64_t) order->n * problem->layers;
        if (!ald_plan_cut(arrangement->request, search->cuts, order->n, false))
                return INFINITY;
        for (uint32_t i = 0; i < order->n; i++) {
                double layers_nsec = search->cuts[i].layers * search->cuts[i].layer_nsec;

                nsec += layers_nsec;
                busiest = fmax(busiest, layers_nsec + head_nsec(search, order, i));
        }
        *ret_step_nsec = nsec;
        return arrangement->steps > 1 ? fmax(nsec, arrangement->steps * busiest) : nsec;
}

static bool goes_on(const Search *search)
{
        return *search->arrangement->work < search->arrangement->work_max &&
               search->best_nsec > search->arrangement->ideal_nsec * (1 + ALD_PLAN_TIE);
}

/* Takes an order whose cuts are set as the best one. */
static void take_order(Search *search, const AldStageOrder *order, double nsec, double step_nsec)
{
        memmove(search->best.devices, order->devices, order->n * sizeof *order->devices);
        search->best.n = order->n;
        search->best.head_is_first = order->head_is_first;
        for (uint32_t i = 0; i < order->n; i++)
                search->layers[i] = search->cuts[i].layers;
        search->best_nsec = nsec;
        search->step_nsec = step_nsec;
        search->found = true;
}

/* Takes the order as the best one if it takes less time. Returns whether it does. */
static bool try_order(Search *search, const AldStageOrder *order)
{
        double step_nsec = 0, nsec = measure_order(search, order, &step_nsec);

        if (!(nsec < search->best_nsec * (1 - ALD_PLAN_TIE)))
                return false;
        take_order(search, order, nsec, step_nsec);
        return true;
}

/* Does the same for the devices in `tried`, with the head at the same end. */
static bool try_devices(Search *search, uint32_t n)
{
        const AldStageOrder order = { search->tried, n, search->best.head_is_first };

        return try_order(search, &order);
}

/* Sets `tried` to the best order without `out` stages from `at` on. Returns how many devices are left. */
static uint32_t remove_stages(Search *search, uint32_t at, uint32_t out)
{
        const AldStageOrder *best = &search->best;

        memcpy(search->tried, best->devices, at * sizeof *best->devices);
        memcpy(&search->tried[at], &best->devices[at + out], (best->n - at - out) * sizeof *best->devices);
        return best->n - out;
}

/* Inserts a device at this place of `tried`, which has n devices. */
static void insert_device(Search *search, uint32_t n, uint32_t at, uint32_t device)
{
        memmove(&search->tried[at + 1], &search->tried[at], (n - at) * sizeof *search->tried);
        search->tried[at] = device;
}

static uint32_t node_at(const Search *search, uint32_t stage)
{
        return ald_stage_order_node(search->arrangement->problem, search->best.devices[stage]);
}

/* Returns how many stages from this one on are on the same node, if that node begins here and its stages must
 * follow each other; else 1. */
static uint32_t count_block(const Search *search, uint32_t at)
{
        uint32_t n = 1;

        if (!search->arrangement->problem->nodes_together ||
                (at > 0 && node_at(search, at - 1) == node_at(search, at)))
                return 1;
        while (at + n < search->best.n && node_at(search, at + n) == node_at(search, at))
                n++;
        return n;
}

static bool is_any_required(const Search *search, uint32_t at, uint32_t n)
{
        for (uint32_t i = at; i < at + n; i++)
                if (search->arrangement->problem->devices[search->best.devices[i]].required)
                        return true;
        return false;
}

static bool is_used(const Search *search, uint32_t device)
{
        for (uint32_t i = 0; i < search->best.n; i++)
                if (search->best.devices[i] == device)
                        return true;
        return false;
}

/* Each of the following returns whether it found a better order. */

static bool try_without(Search *search)
{
        for (uint32_t at = 0; at < search->best.n && goes_on(search); at++)
                for (uint32_t out = count_block(search, at);; out = 1) {
                        if (!is_any_required(search, at, out) &&
                                try_devices(search, remove_stages(search, at, out)))
                                return true;
                        if (out == 1)
                                break;
                }
        return false;
}

/* Tries moving this many stages to each other place. */
static bool try_moved(Search *search, uint32_t at, uint32_t out)
{
        for (uint32_t to = 0; to + out <= search->best.n && goes_on(search); to++) {
                uint32_t n = remove_stages(search, at, out);

                if (to == at)
                        continue;
                for (uint32_t i = 0; i < out; i++)
                        insert_device(search, n++, to + i, search->best.devices[at + i]);
                if (try_devices(search, n))
                        return true;
        }
        return false;
}

static bool try_elsewhere(Search *search)
{
        for (uint32_t at = 0; at < search->best.n; at++) {
                uint32_t out = count_block(search, at);

                if ((out > 1 && try_moved(search, at, out)) || try_moved(search, at, 1))
                        return true;
        }
        return false;
}

static bool try_swapped(Search *search)
{
        for (uint32_t at = 0; at < search->best.n; at++)
                for (uint32_t with = at + 1; with < search->best.n && goes_on(search); with++) {
                        (void) remove_stages(search, 0, 0);
                        search->tried[at] = search->best.devices[with];
                        search->tried[with] = search->best.devices[at];
                        if (try_devices(search, search->best.n))
                                return true;
                }
        return false;
}

/* Tries one more device or, with `out` of 1, one in place of another. */
static bool try_another(Search *search, uint32_t out)
{
        const AldPlacementProblem *problem = search->arrangement->problem;

        for (uint32_t device = 0; device < problem->n_devices; device++)
                for (uint32_t at = 0; at + out <= search->best.n && goes_on(search); at++) {
                        uint32_t n;

                        if (is_used(search, device) ||
                                (out > 0 && problem->devices[search->best.devices[at]].required))
                                continue;
                        n = remove_stages(search, at, out);
                        insert_device(search, n, at, device);
                        if (try_devices(search, n + 1))
                                return true;
                }
        return false;
}

/* Lists the fastest devices, at most n, of a node none of whose devices is used. Returns how many there
 * are. */
static uint32_t list_unused_node(const Search *search, uint32_t device, uint32_t n, uint32_t *ret)
{
        const AldPlacementProblem *problem = search->arrangement->problem;
        uint32_t found = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                uint32_t at = found;

                if (ald_stage_order_node(problem, i) != ald_stage_order_node(problem, device))
                        continue;
                if (is_used(search, i))
                        return 0;
                for (; at > 0 && problem->devices[ret[at - 1]].layer_nsec > problem->devices[i].layer_nsec;
                        at--)
                        if (at < n)
                                ret[at] = ret[at - 1];
                if (at < n)
                        ret[at] = i;
                found = MIN(found + 1, n);
        }
        return found;
}

static bool is_first_of_node(const Search *search, uint32_t device)
{
        for (uint32_t i = 0; i < device; i++)
                if (ald_stage_order_node(search->arrangement->problem, i) ==
                        ald_stage_order_node(search->arrangement->problem, device))
                        return false;
        return true;
}

/* Tries one more node or, with `instead`, one in place of another, if equally many devices of each node must
 * be used. */
static bool try_another_node(Search *search, bool instead)
{
        const AldPlacementProblem *problem = search->arrangement->problem;
        uint32_t each = search->best.n > 0 ? count_block(search, 0) : 0;
        g_autofree uint32_t *list = g_new(uint32_t, each + 1);

        for (uint32_t device = 0; each > 1 && problem->nodes_even && device < problem->n_devices; device++) {
                if (!is_first_of_node(search, device) || list_unused_node(search, device, each, list) < each)
                        continue;
                for (uint32_t at = 0; at + (instead ? each : 0) <= search->best.n && goes_on(search);
                        at += each) {
                        uint32_t out = instead ? each : 0, n;

                        if (is_any_required(search, at, out))
                                continue;
                        n = remove_stages(search, at, out);
                        for (uint32_t i = 0; i < each; i++)
                                insert_device(search, n++, at + i, list[i]);
                        if (try_devices(search, n))
                                return true;
                }
        }
        return false;
}

/* Tries the same order with another cut of the layers, by which the busiest part may be less busy. */
static bool try_other_cut(Search *search)
{
        return search->arrangement->steps > 1 && try_devices(search, remove_stages(search, 0, 0));
}

static void improve_order(Search *search)
{
        while (goes_on(search) &&
                (try_other_cut(search) || try_without(search) || try_elsewhere(search) ||
                        try_another(search, 1) || try_another(search, 0) || try_swapped(search) ||
                        try_another_node(search, true) || try_another_node(search, false)))
                ;
}

static uint32_t stages_max(const Search *search)
{
        const AldPlacementProblem *problem = search->arrangement->problem;
        uint32_t most = MIN(problem->n_devices, problem->layers);

        return problem->devices_max > 0 ? MIN(most, problem->devices_max) : most;
}

/* Returns the sum of the lengths of all orders, but at most `most`. */
static uint64_t count_order_devices(const Search *search, uint64_t most)
{
        uint64_t orders = search->arrangement->may_head_be_first ? 2 : 1, n = 0;

        for (uint32_t i = 0; i < stages_max(search) && n < most; i++) {
                orders = MIN(orders * (search->arrangement->problem->n_devices - i), most);
                n += orders * (i + 1);
        }
        return MIN(n, most);
}

static bool has_required(const Search *search, uint32_t n)
{
        const AldPlacementProblem *problem = search->arrangement->problem;
        uint32_t missing = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++)
                missing += problem->devices[i].required;
        for (uint32_t i = 0; i < n; i++)
                missing -= problem->devices[search->tried[i]].required;
        return missing == 0;
}

static bool is_tried(const Search *search, uint32_t n, uint32_t device)
{
        for (uint32_t i = 0; i < n; i++)
                if (search->tried[i] == device)
                        return true;
        return false;
}

/* Tries all orders that begin with the n devices in `tried`. */
static void try_longer_orders(Search *search, uint32_t n, bool head_is_first)
{
        const AldStageOrder order = { search->tried, n + 1, head_is_first && n > 0 };

        for (uint32_t device = 0; device < search->arrangement->problem->n_devices && goes_on(search);
                device++) {
                if (is_tried(search, n, device))
                        continue;
                search->tried[n] = device;
                /* With several steps under way, a cut that is found may make a better one possible. */
                while (has_required(search, n + 1) && try_order(search, &order))
                        ;
                if (n + 1 < stages_max(search))
                        try_longer_orders(search, n + 1, head_is_first);
        }
}

/* Tries all orders if they are few. Returns whether it tried all, so that the best one is proven; false if
 * the best one was good enough to stop. */
static bool try_all_orders(Search *search)
{
        const AldPlanArrangement *arrangement = search->arrangement;
        uint64_t left = arrangement->work_max - MIN(*arrangement->work, arrangement->work_max);

        if (!goes_on(search) || count_order_devices(search, left) >= left)
                return false;
        try_longer_orders(search, 0, false);
        if (arrangement->may_head_be_first)
                try_longer_orders(search, 0, true);
        return goes_on(search);
}

/* Takes some order on which the layers fit as the best one, whatever its time. */
static int take_fitting_order(Search *search)
{
        const AldPlanArrangement *arrangement = search->arrangement;
        AldPlanFitting fitting = { .request = arrangement->request,
                .problem = arrangement->problem,
                .cuts = arrangement->cuts,
                .may_head_be_first = arrangement->may_head_be_first,
                .work_max = arrangement->fit_work_max };
        AldStageOrder order = { .devices = search->tried };
        double step_nsec = 0, nsec;
        int r = ald_plan_fit(&fitting, &order);

        if (r < 0)
                return r;
        nsec = measure_order(search, &order, &step_nsec);
        if (!(nsec < search->best_nsec)) {
                /* Not every device of that order gets a layer. Without work, such orders are not found. */
                fitting.work_max = 0;
                r = ald_plan_fit(&fitting, &order);
                if (r < 0)
                        return r;
                nsec = measure_order(search, &order, &step_nsec);
        }
        if (!(nsec < search->best_nsec))
                return -EAGAIN;
        take_order(search, &order, nsec, step_nsec);
        return 0;
}

static void search_init(Search *search, const AldPlanArrangement *arrangement,
        const AldPlacementSolution *solution, bool head_is_first)
{
        const AldPlacementProblem *problem = arrangement->problem;
        size_t n = problem->n_devices + 1;

        *search = (Search){ .arrangement = arrangement,
                .cuts = g_new(AldPlanStageCut, n),
                .tried = g_new(uint32_t, n),
                .best = { .devices = g_new(uint32_t, n),
                        .n = solution->n_stages,
                        .head_is_first = head_is_first },
                .layers = g_new(uint32_t, n),
                .best_nsec = INFINITY,
                .layers_bytes = (double) ald_plan_layers_bytes(
                        arrangement->request, ALD_PLAN_RUN_FIRST, problem->layers),
                .fastest = g_new(uint32_t, n) };
        for (uint32_t i = 0; i < solution->n_stages; i++)
                search->best.devices[i] = solution->stages[i].device;
}

int ald_plan_arrange(const AldPlanArrangement *arrangement, AldPlacementSolution *solution,
        bool *head_is_first, bool *ret_is_least)
{
        g_auto(Search) search = { 0 };
        double nsec, step_nsec = 0;
        int r = -EAGAIN;

        search_init(&search, arrangement, solution, *head_is_first);
        nsec = measure_order(&search, &search.best, &step_nsec);
        search.best_nsec = fmin(nsec, arrangement->below_nsec);
        improve_order(&search);
        if (!search.found && isinf(nsec)) {
                r = take_fitting_order(&search);
                if (r >= 0)
                        improve_order(&search);
        }
        *ret_is_least = try_all_orders(&search);
        if (!search.found)
                return r;
        *head_is_first = search.best.head_is_first;
        g_free(solution->stages);
        *solution = (AldPlacementSolution){ .stages = g_new(AldPlacementStage, search.best.n),
                .n_stages = search.best.n,
                .nsec = search.step_nsec };
        for (uint32_t i = 0; i < search.best.n; i++)
                solution->stages[i] = (AldPlacementStage){ .device = search.best.devices[i],
                        .layers = search.layers[i] };
        return 0;
}
