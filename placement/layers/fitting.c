/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "placement/layers/fitting.h"
#include "placement/plan/cost.h"

#define EXACT_MAX 20u /* devices */
#define SETS_AT_ONCE 4096u

typedef uint32_t Set; /* bit i: device i */

/* The rule by which the greedy search chooses the next device. */
typedef enum Greed {
        GREED_LEAST_WASTE,
        GREED_MOST_LAYERS,
        GREED_N,
} Greed;

typedef struct Fit {
        const AldPlanFitting *of;
        const AldPlacementProblem *problem;
        uint32_t n, layers, most; /* most stages */
        double *bytes;            /* [i]: bytes of the first i layers */
        uint32_t *ends;           /* [device][role][layer]: the end of the longest run from there on */
        uint32_t *starts; /* [device]: the start of the longest run up to the last layer, with the head */
        uint32_t columns; /* n if the last device of a set matters, else 1 */
        Set required;
        Set on_node[EXACT_MAX];
        uint32_t *reach; /* [set][column]: how many of the first layers the set has room for; 0: none */
        uint32_t first;  /* the device at which orders begin; n: any */
        bool head_is_first;
} Fit;

static void fit_clear(Fit *fit)
{
        g_free(fit->bytes);
        g_free(fit->ends);
        g_free(fit->starts);
        g_free(fit->reach);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fit, fit_clear)

static const AldPlanStageCut *cut_of(const Fit *fit, uint32_t device, AldPlacementRole role)
{
        return &fit->of->cuts[(size_t) device * ALD_PLACEMENT_N_ROLES + role];
}

static uint32_t *ends_of(const Fit *fit, uint32_t device, AldPlacementRole role)
{
        return &fit->ends[((size_t) device * ALD_PLACEMENT_N_ROLES + role) * (fit->layers + 1)];
}

static void find_ends(Fit *fit, uint32_t device, AldPlacementRole role)
{
        const AldPlanStageCut *cut = cut_of(fit, device, role);
        uint32_t *ends = ends_of(fit, device, role), end = 0;

        for (uint32_t first = 0; first <= fit->layers; first++) {
                end = MAX(end, first);
                while (end < fit->layers && end - first < cut->layers_max &&
                        fit->bytes[end + 1] - fit->bytes[first] <= cut->room)
                        end++;
                ends[first] = end;
        }
}

static void find_start(Fit *fit, uint32_t device)
{
        const uint32_t *ends = ends_of(fit, device, ALD_PLACEMENT_LAST);
        uint32_t start = fit->layers;

        while (start > 0 && ends[start - 1] == fit->layers)
                start--;
        fit->starts[device] = start;
}

static bool is_joined(const Fit *fit, uint32_t from, uint32_t to)
{
        const double *hop = fit->problem->hop_nsec;

        return !hop || hop[(size_t) from * fit->n + to] < INFINITY;
}

static bool is_closed(const Fit *fit, uint32_t last, uint32_t first)
{
        return !fit->problem->hop_nsec || ald_placement_closing(fit->problem, last, first) < INFINITY;
}

static void fit_init(Fit *fit, const AldPlanFitting *fitting)
{
        const AldPlacementProblem *problem = fitting->problem;
        size_t n = problem->n_devices;

        *fit = (Fit){ .of = fitting,
                .problem = problem,
                .n = problem->n_devices,
                .layers = problem->layers,
                .most = MIN(problem->n_devices, problem->layers),
                .bytes = g_new(double, problem->layers + 1),
                .ends = g_new(uint32_t, n * ALD_PLACEMENT_N_ROLES * (problem->layers + 1)),
                .starts = g_new(uint32_t, n),
                .first = problem->n_devices };
        if (problem->devices_max > 0)
                fit->most = MIN(fit->most, problem->devices_max);
        for (uint32_t i = 0; i <= fit->layers; i++)
                fit->bytes[i] = (double) ald_plan_layers_bytes(fitting->request, ALD_PLAN_RUN_FIRST, i);
        for (uint32_t i = 0; i < fit->n; i++) {
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                        find_ends(fit, i, role);
                find_start(fit, i);
        }
}

static int compare_descending(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return (x < y) - (x > y);
}

/* Returns whether even the devices with the most room have too little for all layers, whatever else they
 * hold. */
static bool lack_room(const Fit *fit)
{
        g_autofree double *rooms = g_new0(double, MAX(fit->n, 1));
        double sum = 0;

        for (uint32_t i = 0; i < fit->n; i++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                        if (cut_of(fit, i, role)->layers_max > 0)
                                rooms[i] = fmax(rooms[i], cut_of(fit, i, role)->room);
        qsort(rooms, fit->n, sizeof rooms[0], compare_descending);
        for (uint32_t i = 0; i < fit->most; i++)
                sum += rooms[i];
        return sum < fit->bytes[fit->layers];
}

static uint32_t *reach_at(const Fit *fit, Set set, uint32_t last)
{
        return &fit->reach[(size_t) set * fit->columns + (fit->columns > 1 ? last : 0)];
}

static bool may_follow(const Fit *fit, Set set, uint32_t last, uint32_t device)
{
        if (set & 1u << device)
                return false;
        if (fit->columns == 1)
                return true;
        if (fit->problem->nodes_together && set & fit->on_node[device] &&
                !(fit->on_node[device] & 1u << last))
                return false;
        return is_joined(fit, last, device);
}

static bool is_set_allowed(const Fit *fit, Set set)
{
        const AldPlacementProblem *problem = fit->problem;
        int nodes = 0, each = 0;

        if ((set & fit->required) != fit->required)
                return false;
        for (Set rest = set, on_node; rest; rest &= ~on_node) {
                on_node = set & fit->on_node[__builtin_ctz(rest)];
                if (problem->nodes_even && nodes > 0 && __builtin_popcount(on_node) != each)
                        return false;
                each = __builtin_popcount(on_node);
                nodes++;
        }
        return problem->nodes_max == 0 || (uint32_t) nodes <= problem->nodes_max;
}

/* Returns how many of the first layers have room if this device follows `before` others that have room for
 * `reach` layers. Each device gets at least one layer, so the others may have to get fewer. 0 if the device
 * has room for none. */
static uint32_t extend_reach(
        const Fit *fit, uint32_t device, AldPlacementRole role, uint32_t reach, uint32_t before)
{
        const uint32_t *ends = ends_of(fit, device, role);

        if (before >= fit->layers)
                return 0;
        for (uint32_t first = MIN(reach, fit->layers - 1);; first--) {
                if (ends[first] > first)
                        return ends[first];
                if (first == before)
                        return 0;
        }
}

/* Sets ret to an order of the set that ends with this device. */
static void trace_back(const Fit *fit, Set set, uint32_t last, AldStageOrder *ret)
{
        uint32_t before = (uint32_t) __builtin_popcount(set) - 1;

        ret->devices[before] = last;
        while (before > 0) {
                uint32_t reach = *reach_at(fit, set, last);
                bool found = false;

                for (uint32_t device = 0; device < fit->n && !found; device++) {
                        uint32_t end;

                        /* With a single column, any device may be the last of a set. */
                        if (!(set & 1u << device) || (fit->columns > 1 && device != last))
                                continue;
                        for (uint32_t previous = 0; previous < fit->n && !found; previous++) {
                                Set rest = set & ~(1u << device);

                                if (!(rest & 1u << previous) || !may_follow(fit, rest, previous, device) ||
                                        *reach_at(fit, rest, previous) == 0)
                                        continue;
                                end = extend_reach(fit, device, ALD_PLACEMENT_PLAIN,
                                        *reach_at(fit, rest, previous), before);
                                if (end != reach)
                                        continue;
                                ret->devices[before--] = device;
                                set = rest;
                                last = previous;
                                found = true;
                        }
                }
                g_assert(found);
        }
        ret->devices[0] = (uint32_t) __builtin_ctz(set);
}

/* Keeps the order of the set, followed by `device` unless that is n, if it has fewer devices than the one
 * kept so far. */
static void keep_shorter(const Fit *fit, Set set, uint32_t last, uint32_t device, AldStageOrder *ret)
{
        Set all = device < fit->n ? set | 1u << device : set;
        uint32_t n = (uint32_t) __builtin_popcount(all);

        if ((ret->n > 0 && n >= ret->n) || n > fit->most || !is_set_allowed(fit, all))
                return;
        trace_back(fit, set, last, ret);
        ret->n = n;
        ret->head_is_first = fit->head_is_first && n > 1;
        if (device < fit->n)
                ret->devices[n - 1] = device;
}

static void extend_set(const Fit *fit, Set set, uint32_t last, AldStageOrder *ret)
{
        uint32_t reach = *reach_at(fit, set, last), before = (uint32_t) __builtin_popcount(set);

        if (reach == 0)
                return;
        if (fit->head_is_first && reach == fit->layers)
                keep_shorter(fit, set, last, fit->n, ret);
        if (before >= fit->most)
                return;
        for (uint32_t device = 0; device < fit->n; device++) {
                uint32_t *next, end;

                if (!may_follow(fit, set, last, device))
                        continue;
                if (!fit->head_is_first && before < fit->layers &&
                        fit->starts[device] <= MIN(reach, fit->layers - 1) &&
                        (fit->first == fit->n || is_closed(fit, device, fit->first)))
                        keep_shorter(fit, set, last, device, ret);
                end = extend_reach(fit, device, ALD_PLACEMENT_PLAIN, reach, before);
                next = reach_at(fit, set | 1u << device, device);
                *next = MAX(*next, end);
        }
}

/* Goes through all sets, each of which comes after its subsets. Returns false if the search is given up. */
static bool search_sets(Fit *fit, AldStageOrder *ret)
{
        size_t cells = ((size_t) 1 << fit->n) * fit->columns;
        AldPlacementRole first_role = fit->head_is_first ? ALD_PLACEMENT_BOTH : ALD_PLACEMENT_FIRST;

        memset(fit->reach, 0, cells * sizeof *fit->reach);
        for (uint32_t i = 0; i < fit->n; i++)
                if (fit->first == fit->n || fit->first == i)
                        *reach_at(fit, 1u << i, i) = ends_of(fit, i, first_role)[0];
        for (Set set = 1; set < 1u << fit->n; set++) {
                if (set % SETS_AT_ONCE == 0 && !ald_placement_proceeds(fit->problem))
                        return false;
                for (uint32_t last = 0; last < fit->columns; last++)
                        if (fit->columns == 1 || set & 1u << last)
                                extend_set(fit, set, last, ret);
        }
        return true;
}

static void try_alone(const Fit *fit, AldStageOrder *ret)
{
        for (uint32_t i = 0; i < fit->n && ret->n == 0; i++)
                if (ends_of(fit, i, ALD_PLACEMENT_BOTH)[0] == fit->layers && is_set_allowed(fit, 1u << i)) {
                        ret->devices[0] = i;
                        ret->n = 1;
                }
}

/* Returns the work of the search through all sets, and sets what it needs. *ret_has_gaps: rings cannot be
 * closed between all devices. */
static uint64_t prepare_sets(Fit *fit, bool *ret_has_gaps)
{
        const AldPlacementProblem *problem = fit->problem;
        bool has_order = false, has_gaps = false;

        for (uint32_t i = 0; i < fit->n; i++) {
                fit->required |= problem->devices[i].required ? 1u << i : 0;
                for (uint32_t j = 0; j < fit->n; j++) {
                        bool together = ald_stage_order_node(problem, i) == ald_stage_order_node(problem, j);

                        fit->on_node[i] |= together ? 1u << j : 0;
                        has_order |= i != j &&
                                     ((together && problem->nodes_together) || !is_joined(fit, i, j));
                        has_gaps |= i != j && !is_closed(fit, i, j);
                }
        }
        fit->columns = has_order ? fit->n : 1;
        *ret_has_gaps = has_gaps;
        return ((uint64_t) fit->n << fit->n) * fit->columns * (has_gaps ? fit->n : 1) *
               (fit->of->may_head_be_first ? 2 : 1);
}

static int fit_exactly(Fit *fit, AldStageOrder *ret)
{
        bool has_gaps;

        if (fit->n > EXACT_MAX || fit->n == 0 || prepare_sets(fit, &has_gaps) > fit->of->work_max)
                return -E2BIG;
        ret->n = 0;
        ret->head_is_first = false;
        try_alone(fit, ret);
        fit->reach = g_new(uint32_t, ((size_t) 1 << fit->n) * fit->columns);
        for (uint32_t first = has_gaps ? 0 : fit->n; first < fit->n + !has_gaps && ret->n == 0; first++) {
                fit->first = first;
                if (!search_sets(fit, ret))
                        return -EAGAIN;
        }
        fit->first = fit->n;
        fit->head_is_first = true;
        if (ret->n == 0 && fit->of->may_head_be_first && !search_sets(fit, ret))
                return -EAGAIN;
        return ret->n > 0 ? 0 : -ENOSPC;
}

static bool may_be_added(const Fit *fit, const AldStageOrder *order, const bool *used, uint32_t device)
{
        uint32_t node = ald_stage_order_node(fit->problem, device);

        if (used[device])
                return false;
        if (order->n == 0)
                return true;
        if (!is_joined(fit, order->devices[order->n - 1], device))
                return false;
        if (!fit->problem->nodes_together ||
                ald_stage_order_node(fit->problem, order->devices[order->n - 1]) == node)
                return true;
        for (uint32_t i = 0; i < order->n; i++)
                if (ald_stage_order_node(fit->problem, order->devices[i]) == node)
                        return false;
        return true;
}

/* Returns how well a device suits if it gets these layers; more is better. */
static double rate_device(
        const Fit *fit, Greed greed, const AldPlanStageCut *cut, uint32_t first, uint32_t end)
{
        if (greed == GREED_MOST_LAYERS)
                return end - first;
        return (fit->bytes[end] - fit->bytes[first]) / cut->room;
}

/* Adds a device that holds all remaining layers, if there is one. */
static bool add_finishing_device(const Fit *fit, AldStageOrder *order, const bool *used, uint32_t reach)
{
        for (uint32_t i = 0; i < fit->n; i++) {
                if (order->n == 0 ? ends_of(fit, i, ALD_PLACEMENT_BOTH)[0] < fit->layers
                                  : fit->starts[i] > MIN(reach, fit->layers - 1))
                        continue;
                if (!may_be_added(fit, order, used, i) ||
                        (order->n > 0 && !is_closed(fit, i, order->devices[0])))
                        continue;
                order->devices[order->n++] = i;
                return true;
        }
        return false;
}

/* Adds the device that suits best. Returns the end of the layers that it gets, or `first` if there is
 * none. */
static uint32_t add_best(const Fit *fit, Greed greed, AldStageOrder *order, bool *used, uint32_t first)
{
        AldPlacementRole role = order->n == 0 ? ALD_PLACEMENT_FIRST : ALD_PLACEMENT_PLAIN;
        uint32_t best = fit->n;
        double most = 0;

        for (uint32_t i = 0; i < fit->n; i++) {
                uint32_t end = ends_of(fit, i, role)[first];
                double suits;

                if (end == first || !may_be_added(fit, order, used, i))
                        continue;
                suits = rate_device(fit, greed, cut_of(fit, i, role), first, end);
                if (suits <= most)
                        continue;
                most = suits;
                best = i;
        }
        if (best == fit->n)
                return first;
        used[best] = true;
        order->devices[order->n++] = best;
        return ends_of(fit, best, role)[first];
}

static bool fit_greedily(const Fit *fit, Greed greed, AldStageOrder *ret)
{
        g_autofree bool *used = g_new0(bool, MAX(fit->n, 1));
        uint32_t reach = 0;

        ret->n = 0;
        ret->head_is_first = false;
        while (ret->n < fit->most) {
                uint32_t end;

                if (add_finishing_device(fit, ret, used, reach))
                        return true;
                end = add_best(fit, greed, ret, used, reach);
                if (end == reach)
                        return false;
                reach = end;
        }
        return false;
}

static bool has_required(const Fit *fit, const AldStageOrder *order)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < fit->n; i++)
                n += fit->problem->devices[i].required;
        for (uint32_t i = 0; i < order->n; i++)
                n -= fit->problem->devices[order->devices[i]].required;
        return n == 0;
}

int ald_plan_fit(const AldPlanFitting *fitting, AldStageOrder *ret)
{
        g_auto(Fit) fit = { 0 };
        int r;

        fit_init(&fit, fitting);
        if (lack_room(&fit))
                return -ENOSPC;
        r = fit_exactly(&fit, ret);
        if (r != -E2BIG)
                return r;
        for (Greed greed = 0; greed < GREED_N; greed++)
                if (fit_greedily(&fit, greed, ret) && has_required(&fit, ret) &&
                        ald_stage_order_is_allowed(fitting->problem, ret))
                        return 0;
        return -EAGAIN;
}
