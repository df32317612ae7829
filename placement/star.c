/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "placement/star.h"

#define TIE 1e-11 /* share of the time that a device costs in comparisons, so that few are used */
#define ALL_ROLES ALD_PLACEMENT_BOTH

/* How many of the layers are on a device, and as what; no layers: it is not used. */
typedef struct Choice {
        uint32_t layers : 28;
        uint32_t role : 3;
        uint32_t opens : 1; /* it is the first one of its node */
} Choice;

/* Of the devices so far: the least time for so many layers, with those roles given to some of them, on so
 * many devices and nodes, if they are counted. */
typedef struct Table {
        const AldPlacementProblem *problem;
        const AldPlacementArm *arms;
        uint32_t *order; /* devices of use, those of a node together */
        uint32_t n;
        uint32_t devices, nodes; /* that may be used; 0: any number, which is not counted */
        double tie_nsec;
        double *outside; /* without the current node: a cell for each state */
        double *inside;  /* with a device of it */
        double *next;
        uint32_t *queue;
        Choice *choice; /* [place in the order][cell]: of inside */
        bool *taken;    /* [place in the order][cell]: whether inside is better, after the last of a node */
} Table;

static size_t row(const Table *table, uint32_t devices, uint32_t nodes, uint32_t roles)
{
        size_t count = (size_t) devices * (table->nodes + 1) + nodes;

        return (count * ALD_PLACEMENT_N_ROLES + roles) * (table->problem->layers + 1);
}

static size_t cells(const Table *table)
{
        return row(table, table->devices + 1, 0, 0);
}

static void table_clear(Table *table)
{
        g_free(table->order);
        g_free(table->outside);
        g_free(table->inside);
        g_free(table->next);
        g_free(table->queue);
        g_free(table->choice);
        g_free(table->taken);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Table, table_clear)

static void fill(const Table *table, double *nsec)
{
        for (size_t i = 0; i < cells(table); i++)
                nsec[i] = INFINITY;
}

/* Devices that no role lets be used are left out, unless they must be. */
static bool is_of_use(const AldPlacementProblem *problem, const AldPlacementArm *arms, uint32_t device)
{
        bool useful = problem->devices[device].required;

        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                useful |= ald_placement_arm(arms, device, role)->use_nsec < INFINITY &&
                          ald_placement_arm(arms, device, role)->layers_max > 0;
        return useful;
}

static int compare_nodes(const void *a, const void *b, void *userdata)
{
        const uint32_t *nodes = userdata, x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        if (nodes && nodes[x] != nodes[y])
                return nodes[x] < nodes[y] ? -1 : 1;
        return x < y ? -1 : x > y;
}

/* Lowers each with[layers] to before[fewer layers] and the rest of them on the device in this role. The least
 * of those in reach is at the head of the queue, as in a sliding minimum. */
static void extend(
        const Table *table, uint32_t device, Choice as, const double *before, double *with, Choice *choice)
{
        const AldPlacementArm *arm = ald_placement_arm(table->arms, device, as.role);
        double layer_nsec = table->problem->devices[device].layer_nsec;
        double use_nsec = arm->use_nsec + table->tie_nsec;
        uint32_t head = 0, tail = 0, *queue = table->queue;

        for (uint32_t layers = 1; layers <= table->problem->layers; layers++) {
                uint32_t fewer = layers - 1;
                double nsec;

                while (tail > head && before[queue[tail - 1]] - queue[tail - 1] * layer_nsec >
                                              before[fewer] - fewer * layer_nsec)
                        tail--;
                if (before[fewer] < INFINITY)
                        queue[tail++] = fewer;
                while (tail > head && layers - queue[head] > arm->layers_max)
                        head++;
                if (tail == head)
                        continue;
                as.layers = layers - queue[head];
                nsec = before[queue[head]] + as.layers * layer_nsec + use_nsec;
                if (nsec < with[layers]) {
                        with[layers] = nsec;
                        choice[layers] = as;
                }
        }
}

/* Of so many devices and nodes, this one included. */
static void extend_all(Table *table, uint32_t device, uint32_t devices, uint32_t nodes, Choice *choice)
{
        uint32_t others = table->devices ? devices - 1 : 0;

        for (uint32_t roles = 0; roles <= ALL_ROLES; roles++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        size_t to = row(table, devices, nodes, roles);
                        uint32_t rest = roles & ~role;

                        if ((role & ~roles) ||
                                !(ald_placement_arm(table->arms, device, role)->use_nsec < INFINITY))
                                continue;
                        if (table->nodes)
                                extend(table, device, (Choice){ .role = role },
                                        table->inside + row(table, others, nodes, rest), table->next + to,
                                        choice + to);
                        if (table->nodes && nodes == 0)
                                continue;
                        extend(table, device, (Choice){ .role = role, .opens = 1 },
                                table->outside + row(table, others, table->nodes ? nodes - 1 : 0, rest),
                                table->next + to, choice + to);
                }
}

static void add_device(Table *table, uint32_t place)
{
        uint32_t device = table->order[place];
        Choice *choice = table->choice + place * cells(table);
        double *swap = table->inside;

        if (table->problem->devices[device].required)
                fill(table, table->next);
        else
                memcpy(table->next, table->inside, cells(table) * sizeof *table->next);
        for (uint32_t devices = table->devices ? 1 : 0; devices <= table->devices; devices++)
                for (uint32_t nodes = 0; nodes <= table->nodes; nodes++)
                        extend_all(table, device, devices, nodes, choice);
        if (table->problem->devices[device].required)
                fill(table, table->outside);
        table->inside = table->next;
        table->next = swap;
}

static void end_node(Table *table, uint32_t place)
{
        bool *taken = table->taken + place * cells(table);

        for (size_t i = 0; i < cells(table); i++) {
                taken[i] = table->inside[i] < table->outside[i];
                table->outside[i] = MIN(table->inside[i], table->outside[i]);
                table->inside[i] = INFINITY;
        }
}

/* Devices count for themselves if nodes are not counted. */
static bool is_last_of_node(const Table *table, uint32_t place)
{
        const uint32_t *nodes = table->problem->nodes;

        return !table->nodes || place + 1 == table->n ||
               nodes[table->order[place]] != nodes[table->order[place + 1]];
}

typedef struct Found {
        AldPlacementStage stage;
        AldPlacementRole role;
} Found;

static int compare_found(const void *a, const void *b)
{
        const Found *x = a, *y = b;
        int x_rank = x->role & ALD_PLACEMENT_FIRST ? 0 : x->role & ALD_PLACEMENT_LAST ? 2 : 1;
        int y_rank = y->role & ALD_PLACEMENT_FIRST ? 0 : y->role & ALD_PLACEMENT_LAST ? 2 : 1;

        if (x_rank != y_rank)
                return x_rank - y_rank;
        return x->stage.device < y->stage.device ? -1 : 1;
}

static void put_in_order(const Table *table, Found *found, uint32_t n, AldPlacementStarSolution *ret)
{
        qsort(found, n, sizeof *found, compare_found);
        *ret = (AldPlacementStarSolution){ .stages = g_new(AldPlacementStage, n), .n_stages = n };
        for (uint32_t i = 0; i < n; i++) {
                const AldPlacementStage *stage = &found[i].stage;

                ret->stages[i] = *stage;
                ret->nsec += stage->layers * table->problem->devices[stage->device].layer_nsec +
                             ald_placement_arm(table->arms, stage->device, found[i].role)->use_nsec;
                if (found[i].role & ALD_PLACEMENT_LAST)
                        ret->last = i;
        }
}

static void read_back(const Table *table, uint32_t devices, uint32_t nodes, AldPlacementStarSolution *ret)
{
        g_autofree Found *found = g_new(Found, table->problem->layers);
        uint32_t layers = table->problem->layers, roles = ALL_ROLES, n = 0;
        bool inside = false, skips = false;

        for (uint32_t place = table->n; place-- > 0;) {
                size_t cell = row(table, devices, nodes, roles) + layers;
                Choice chosen = table->choice[place * cells(table) + cell];

                if (is_last_of_node(table, place)) {
                        inside = table->taken[place * cells(table) + cell];
                        skips = !inside;
                }
                if (skips || chosen.layers == 0)
                        continue;
                found[n++] = (Found){ { table->order[place], chosen.layers }, chosen.role };
                layers -= chosen.layers;
                roles &= ~chosen.role;
                devices -= table->devices > 0;
                nodes -= table->nodes > 0 && chosen.opens;
                skips = chosen.opens;
        }
        put_in_order(table, found, n, ret);
}

static void table_init(Table *table, const AldPlacementProblem *problem, const AldPlacementArm *arms)
{
        double least = INFINITY;

        *table = (Table){ .problem = problem, .arms = arms, .order = g_new(uint32_t, problem->n_devices) };
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                least = fmin(least, problem->devices[i].layer_nsec);
                if (is_of_use(problem, arms, i))
                        table->order[table->n++] = i;
        }
        g_qsort_with_data(table->order, (gint) table->n, sizeof *table->order, compare_nodes,
                problem->nodes_max > 0 ? (gpointer) problem->nodes : NULL);
        table->tie_nsec = TIE * least * problem->layers;
        table->queue = g_new(uint32_t, problem->layers);
}

static void table_fill(Table *table)
{
        g_free(table->outside);
        g_free(table->inside);
        g_free(table->next);
        g_free(table->choice);
        g_free(table->taken);
        table->outside = g_new(double, cells(table));
        table->inside = g_new(double, cells(table));
        table->next = g_new(double, cells(table));
        table->choice = g_new0(Choice, cells(table) * table->n);
        table->taken = g_new(bool, cells(table) * table->n);
        fill(table, table->outside);
        fill(table, table->inside);
        table->outside[row(table, 0, 0, 0)] = 0;
        for (uint32_t place = 0; place < table->n; place++) {
                add_device(table, place);
                if (is_last_of_node(table, place))
                        end_node(table, place);
        }
}

static int solve(Table *table, uint64_t *work, AldPlacementStarSolution *ret)
{
        uint32_t best_devices = 0, best_nodes = 0;
        double best = INFINITY;

        *work += cells(table) * table->n;
        table_fill(table);
        for (uint32_t devices = 0; devices <= table->devices; devices++)
                for (uint32_t nodes = 0; nodes <= table->nodes; nodes++) {
                        double nsec = table->outside[row(table, devices, nodes, ALL_ROLES) +
                                                     table->problem->layers];

                        if (!(nsec < best))
                                continue;
                        best = nsec;
                        best_devices = devices;
                        best_nodes = nodes;
                }
        if (!(best < INFINITY))
                return -ENOSPC;
        read_back(table, best_devices, best_nodes, ret);
        return 0;
}

static bool is_within_limits(const AldPlacementProblem *problem, const AldPlacementStarSolution *solution)
{
        g_autofree uint32_t *devices = g_new(uint32_t, solution->n_stages);

        for (uint32_t i = 0; i < solution->n_stages; i++)
                devices[i] = solution->stages[i].device;
        return (problem->devices_max == 0 || solution->n_stages <= problem->devices_max) &&
               (problem->nodes_max == 0 ||
                       ald_placement_count_nodes(problem, devices, solution->n_stages) <= problem->nodes_max);
}

/* Those that are no limit in fact are not counted. Returns whether all solutions within them can be. */
static bool set_limits(Table *table)
{
        const AldPlacementProblem *problem = table->problem;
        uint32_t devices = problem->devices_max, nodes = problem->nodes_max;
        uint32_t most = MIN(table->n, problem->layers);

        table->devices = devices < most ? devices : 0;
        if (nodes == 0 || nodes >= most || (devices > 0 && nodes >= devices))
                return true;
        table->nodes = nodes;
        if (cells(table) * table->n <= ALD_PLACEMENT_STAR_CELLS)
                return true;
        table->devices = nodes;
        table->nodes = 0;
        return false;
}

/* Whether any solution with device b could have a instead, and take no longer. */
static bool is_no_worse(const Table *table, uint32_t a, uint32_t b)
{
        const AldPlacementDevice *x = &table->problem->devices[a], *y = &table->problem->devices[b];
        bool is_same = x->layer_nsec == y->layer_nsec;

        if (x->layer_nsec > y->layer_nsec || x->required || y->required)
                return false;
        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                const AldPlacementArm *one = ald_placement_arm(table->arms, a, role);
                const AldPlacementArm *other = ald_placement_arm(table->arms, b, role);

                if (one->use_nsec > other->use_nsec || one->layers_max < other->layers_max)
                        return false;
                is_same = is_same && one->use_nsec == other->use_nsec && one->layers_max == other->layers_max;
        }
        return !is_same || a < b;
}

/* Without devices that need not be used, as one of as many as may be used is always left that is no worse. */
static void drop_needless(Table *table)
{
        uint32_t n = 0;
        g_autofree bool *needless = g_new0(bool, table->n);

        for (uint32_t i = 0; i < table->n; i++) {
                uint32_t better = 0;

                for (uint32_t j = 0; j < table->n && better < table->devices; j++)
                        better += is_no_worse(table, table->order[j], table->order[i]);
                needless[i] = better >= table->devices;
        }
        for (uint32_t i = 0; i < table->n; i++)
                if (!needless[i])
                        table->order[n++] = table->order[i];
        table->n = n;
}

void ald_placement_star_solution_clear(AldPlacementStarSolution *solution)
{
        g_free(solution->stages);
        *solution = (AldPlacementStarSolution){};
}

int ald_placement_solve_star(const AldPlacementProblem *problem, const AldPlacementArm *arms,
        double below_nsec, uint64_t *work, AldPlacementStarSolution *ret, double *ret_lower_nsec)
{
        g_auto(Table) table;
        bool is_exact = true;
        int r;

        table_init(&table, problem, arms);
        *ret_lower_nsec = INFINITY;
        r = solve(&table, work, ret);
        if (r < 0)
                return r;
        *ret_lower_nsec = ret->nsec;
        if (ret->nsec < below_nsec && !is_within_limits(problem, ret)) {
                ald_placement_star_solution_clear(ret);
                is_exact = set_limits(&table);
                if (table.nodes == 0) {
                        *work += (uint64_t) table.n * table.n;
                        drop_needless(&table);
                }
                if (cells(&table) * table.n > ALD_PLACEMENT_STAR_CELLS)
                        return -E2BIG;
                r = solve(&table, work, ret);
                if (is_exact)
                        *ret_lower_nsec = r < 0 ? INFINITY : ret->nsec;
                if (r < 0)
                        return r;
        }
        if (ret->nsec < below_nsec)
                return 0;
        ald_placement_star_solution_clear(ret);
        return -ENOSPC;
}
