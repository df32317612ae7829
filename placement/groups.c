/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/classes.h"
#include "placement/groups.h"
#include "placement/split.h"

#define GROUPS_MAX 16u
#define WORK_MAX 4e8 /* about half a second */

typedef uint32_t PlacementGroupSet; /* bit i: group i */

typedef struct PlacementGroup {
        uint32_t first; /* the member with the lowest number */
        uint32_t members;
        double inner_nsec; /* hop between members */
} PlacementGroup;

typedef struct PlacementGroups {
        const AldPlacementProblem *problem;
        uint32_t *class_of; /* of each device: the first member of its class */
        PlacementGroup group[GROUPS_MAX];
        uint32_t n;
        PlacementGroupSet required;
        uint32_t counted; /* most devices that may be used, if that matters; else 0 */
        double *path; /* [set][last]: the least sum of hops from the first group of a set through all others
                         to the last */
        double *nsec; /* [taken][devices][layers]: layers and inner hops of the groups taken so far */
        double best;
        PlacementGroupSet best_set;
} PlacementGroups;

static void groups_clear(PlacementGroups *groups)
{
        g_free(groups->class_of);
        g_free(groups->path);
        g_free(groups->nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PlacementGroups, groups_clear)

static const AldPlacementDevice *member_of(const PlacementGroups *groups, uint32_t group)
{
        return &groups->problem->devices[groups->group[group].first];
}

/* Returns the hop between members of two groups, or of one group. */
static double hop_nsec(const PlacementGroups *groups, uint32_t from, uint32_t to)
{
        if (from == to)
                return groups->group[from].inner_nsec;
        return groups->problem->hop_nsec[(size_t) groups->group[from].first * groups->problem->n_devices +
                                         groups->group[to].first];
}

/* Adds the device to its group. Returns false if there would be too many groups. */
static bool add_to_group(PlacementGroups *groups, uint32_t device)
{
        const AldPlacementProblem *problem = groups->problem;
        uint32_t at = 0;

        while (at < groups->n && groups->group[at].first != groups->class_of[device])
                at++;
        if (at == GROUPS_MAX)
                return false;
        if (at == groups->n) {
                groups->group[groups->n++] = (PlacementGroup){
                        .first = device, .members = 1, .inner_nsec = INFINITY
                };
                groups->required |= problem->devices[device].required ? 1u << at : 0;
                return true;
        }
        groups->group[at].members++;
        groups->group[at].inner_nsec =
                problem->hop_nsec[(size_t) groups->group[at].first * problem->n_devices + device];
        return true;
}

/* Checks the condition in groups.h for this group and each pair of other devices. Sums that are equal may
 * differ in their last bits. */
static bool is_one_visit_best(const PlacementGroups *groups, uint32_t group)
{
        for (uint32_t i = 0; i < groups->n; i++)
                for (uint32_t j = 0; j < groups->n; j++) {
                        double around = hop_nsec(groups, i, group) + hop_nsec(groups, group, j);

                        if (i == group || j == group || (i == j && groups->group[i].members == 1))
                                continue;
                        if (hop_nsec(groups, group, group) + hop_nsec(groups, i, j) > around * (1 + 1e-12))
                                return false;
                }
        return true;
}

static bool find_groups(PlacementGroups *groups)
{
        const AldPlacementProblem *problem = groups->problem;

        groups->class_of = g_new(uint32_t, problem->n_devices);
        ald_placement_find_classes(problem, groups->class_of);
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (problem->devices[i].layers_max > 0 && !add_to_group(groups, i))
                        return false;
        for (uint32_t i = 0; i < groups->n; i++)
                if (groups->group[i].members > 1 && !is_one_visit_best(groups, i))
                        return false;
        return true;
}

static double *path_at(const PlacementGroups *groups, PlacementGroupSet set, uint32_t last)
{
        return &groups->path[(size_t) set * groups->n + last];
}

/* Fills `path` by the algorithm of Held and Karp, starting at the lowest group of each set. */
static void find_paths(PlacementGroups *groups)
{
        for (PlacementGroupSet set = 1; set < 1u << groups->n; set++)
                for (uint32_t last = (uint32_t) __builtin_ctz(set) + 1; last < groups->n; last++) {
                        PlacementGroupSet before = set & ~(1u << last), rest = before & (before - 1);
                        double least = INFINITY;

                        if (before == set)
                                continue;
                        if (rest == 0)
                                least = hop_nsec(groups, (uint32_t) __builtin_ctz(set), last);
                        for (; rest; rest &= rest - 1) {
                                uint32_t previous = (uint32_t) __builtin_ctz(rest);
                                double nsec = *path_at(groups, before, previous) +
                                              hop_nsec(groups, previous, last);

                                least = MIN(least, nsec);
                        }
                        *path_at(groups, set, last) = least;
                }
}

/* Returns the least sum of hops of a ring around several groups, and its last group. */
static double ring_nsec(const PlacementGroups *groups, PlacementGroupSet set, uint32_t *ret_last)
{
        uint32_t first = (uint32_t) __builtin_ctz(set);
        double least = INFINITY;

        for (PlacementGroupSet rest = set & (set - 1); rest; rest &= rest - 1) {
                uint32_t last = (uint32_t) __builtin_ctz(rest);
                double nsec = *path_at(groups, set, last) + hop_nsec(groups, last, first);

                if (nsec < least) {
                        least = nsec;
                        *ret_last = last;
                }
        }
        return least;
}

static double *table_row(const PlacementGroups *groups, uint32_t taken, uint32_t devices)
{
        size_t at = (size_t) taken * (groups->counted + 1) + devices;

        return groups->nsec + at * (groups->problem->layers + 1);
}

/* Returns how many members of a group these layers use: all if they are required, else as few as can hold
 * them. 0 if the layers do not fit. */
static uint32_t members_for(const PlacementGroups *groups, uint32_t group, uint32_t layers)
{
        uint32_t most = member_of(groups, group)->layers_max, members = groups->group[group].members;
        uint32_t used = member_of(groups, group)->required ? members : layers / most + (layers % most > 0);

        return layers < used || used > members || (uint64_t) used * most < layers ? 0 : used;
}

/* Returns the time of layers on a group with the hops between its members. A group that is alone also has a
 * hop back. */
static double group_nsec(
        const PlacementGroups *groups, uint32_t group, uint32_t layers, uint32_t used, bool alone)
{
        uint32_t hops = used - (alone && used > 1 ? 0 : 1);

        return layers * member_of(groups, group)->layer_nsec +
               (hops > 0 ? hops * groups->group[group].inner_nsec : 0);
}

/* Fills the rows of one more group, with each possible number of layers on it. */
static void add_group_layers(PlacementGroups *groups, uint32_t taken, uint32_t group, bool alone)
{
        uint32_t layers = groups->problem->layers;

        for (uint32_t k = 0; k <= groups->counted; k++)
                for (uint32_t l = 0; l <= layers; l++)
                        table_row(groups, taken + 1, k)[l] = INFINITY;
        for (uint32_t n = 1; n <= layers; n++) {
                uint32_t used = members_for(groups, group, n), count = groups->counted ? used : 0;
                double nsec;

                if (used == 0)
                        continue;
                nsec = group_nsec(groups, group, n, used, alone);
                for (uint32_t k = count; k <= groups->counted; k++) {
                        const double *before = table_row(groups, taken, k - count);
                        double *after = table_row(groups, taken + 1, k);

                        for (uint32_t l = n; l <= layers; l++)
                                after[l] = MIN(after[l], before[l - n] + nsec);
                }
        }
}

/* Returns the least time of all layers on the groups taken so far, and the number of devices for it. */
static double split_nsec(const PlacementGroups *groups, uint32_t taken, uint32_t *ret_devices)
{
        double least = INFINITY;

        for (uint32_t k = 0; k <= groups->counted; k++)
                if (table_row(groups, taken, k)[groups->problem->layers] < least) {
                        least = table_row(groups, taken, k)[groups->problem->layers];
                        *ret_devices = k;
                }
        return least;
}

/* Tries all sets that add groups from number `from` on to this set. Single groups, which have no ring, are
 * left to try_single_groups(). */
static void try_sets(PlacementGroups *groups, PlacementGroupSet set, uint32_t taken, uint32_t from)
{
        for (uint32_t i = from; i < groups->n; i++) {
                PlacementGroupSet with = set | 1u << i;
                uint32_t devices, last;
                double nsec;

                add_group_layers(groups, taken, i, false);
                nsec = taken > 0 ? split_nsec(groups, taken + 1, &devices) + ring_nsec(groups, with, &last)
                                 : INFINITY;
                if ((with & groups->required) == groups->required && nsec < groups->best) {
                        groups->best = nsec;
                        groups->best_set = with;
                }
                try_sets(groups, with, taken + 1, i + 1);
                /* All further sets lack this group, which is required. */
                if (groups->required & 1u << i)
                        return;
        }
}

static void try_single_groups(PlacementGroups *groups)
{
        for (uint32_t i = 0; i < groups->n; i++) {
                uint32_t devices;
                double nsec;

                if (groups->required & ~(1u << i))
                        continue;
                add_group_layers(groups, 0, i, true);
                nsec = split_nsec(groups, 1, &devices);
                if (nsec < groups->best) {
                        groups->best = nsec;
                        groups->best_set = 1u << i;
                }
        }
}

/* Determines the layers of each group of the best set by tracing the table back. */
static void split_best_set(PlacementGroups *groups, uint32_t layers_of[static GROUPS_MAX])
{
        uint32_t taken = 0, devices = 0, left = groups->problem->layers;
        bool alone = (groups->best_set & (groups->best_set - 1)) == 0;

        for (PlacementGroupSet rest = groups->best_set; rest; rest &= rest - 1)
                add_group_layers(groups, taken++, (uint32_t) __builtin_ctz(rest), alone);
        (void) split_nsec(groups, taken, &devices);
        for (uint32_t i = groups->n; i-- > 0;) {
                if (!(groups->best_set & 1u << i))
                        continue;
                taken--;
                for (uint32_t n = 1; n <= left; n++) {
                        uint32_t used = members_for(groups, i, n), count = groups->counted ? used : 0;

                        if (used == 0 || count > devices ||
                                table_row(groups, taken, devices - count)[left - n] +
                                                group_nsec(groups, i, n, used, alone) >
                                        table_row(groups, taken + 1, devices)[left])
                                continue;
                        layers_of[i] = n;
                        left -= n;
                        devices -= count;
                        break;
                }
        }
}

/* Lists the groups of the best set in the order of the ring, tracing the paths back. Returns their number. */
static uint32_t order_best_set(const PlacementGroups *groups, uint32_t order[static GROUPS_MAX])
{
        uint32_t n = (uint32_t) __builtin_popcount(groups->best_set), last = 0;
        PlacementGroupSet set = groups->best_set;

        order[0] = (uint32_t) __builtin_ctz(set);
        if (n > 1)
                (void) ring_nsec(groups, set, &last);
        for (uint32_t at = n; at > 1; at--) {
                PlacementGroupSet before = set & ~(1u << last);
                double nsec = *path_at(groups, set, last);

                order[at - 1] = last;
                for (PlacementGroupSet rest = before & (before - 1); rest; rest &= rest - 1) {
                        uint32_t previous = (uint32_t) __builtin_ctz(rest);

                        if (*path_at(groups, before, previous) + hop_nsec(groups, previous, last) <= nsec) {
                                last = previous;
                                break;
                        }
                }
                set = before;
        }
        return n;
}

static void add_members(
        const PlacementGroups *groups, uint32_t group, uint32_t layers, AldPlacementSolution *ret)
{
        uint32_t left = members_for(groups, group, layers);

        for (uint32_t i = groups->group[group].first; left > 0; i++) {
                uint32_t n = MIN(groups->problem->devices[i].layers_max, layers - left + 1);

                if (groups->class_of[i] != groups->group[group].first)
                        continue;
                ret->stages[ret->n_stages++] = (AldPlacementStage){ i, n };
                layers -= n;
                left--;
        }
}

static void build_solution(PlacementGroups *groups, AldPlacementSolution *ret)
{
        uint32_t layers_of[GROUPS_MAX], order[GROUPS_MAX], n = order_best_set(groups, order);

        split_best_set(groups, layers_of);
        *ret = (AldPlacementSolution){ .stages = g_new(AldPlacementStage, groups->problem->layers),
                .nsec = groups->best };
        for (uint32_t i = 0; i < n; i++)
                add_members(groups, order[i], layers_of[order[i]], ret);
}

static bool prepare_tables(PlacementGroups *groups)
{
        const AldPlacementProblem *problem = groups->problem;
        uint32_t most = ald_placement_stages_max(problem);
        size_t cells;

        if (problem->ends || !find_groups(groups))
                return false;
        groups->counted = most < MIN(problem->n_devices, problem->layers) ? most : 0;
        cells = (size_t) (groups->counted + 1) * (problem->layers + 1);
        if (ldexp((double) cells * problem->layers / 2, (int) groups->n) > WORK_MAX)
                return false;
        groups->path = g_new(double, ((size_t) 1 << groups->n) * groups->n);
        groups->nsec = g_new(double, (groups->n + 1) * cells);
        for (size_t i = 0; i < cells; i++)
                groups->nsec[i] = INFINITY;
        groups->nsec[0] = 0;
        return true;
}

int ald_placement_solve_groups(const AldPlacementProblem *problem, AldPlacementSolution *ret)
{
        g_auto(PlacementGroups) groups = { .problem = problem, .best = INFINITY };

        if (!ald_placement_fits(problem))
                return -ENOSPC;
        if (!prepare_tables(&groups))
                return -E2BIG;
        find_paths(&groups);
        try_single_groups(&groups);
        try_sets(&groups, 0, 0, 0);
        if (!(groups.best < INFINITY))
                return -EHOSTUNREACH;
        build_solution(&groups, ret);
        return 0;
}
