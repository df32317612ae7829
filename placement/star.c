/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "placement/star.h"

#define TIE 1e-11 /* share of the time that each device costs extra, so that few devices are used */
#define ALL_ROLES ALD_PLACEMENT_BOTH

/* Which devices of the current node a partial solution uses. */
typedef enum Stay {
        STAY_PLAIN, /* some of them are used, but neither first nor last */
        STAY_END,   /* one of them is */
        N_STAYS,
} Stay;

/* How many layers are on a device, and its role; 0 layers if it is not used. */
typedef struct Choice {
        uint32_t layers : 27;
        uint32_t role : 3;
        uint32_t opens : 1;     /* it is the first one of its node */
        uint32_t after_end : 1; /* otherwise: the first or last device is an earlier one of this node */
} Choice;

/* Over the devices so far: the least time for a number of layers, with a set of roles assigned to some of
 * them, on a number of devices and nodes if these are counted. */
typedef struct Table {
        const AldPlacementProblem *problem;
        const AldPlacementRoleCost *role_costs;
        uint32_t *order; /* usable devices, grouped by node */
        uint32_t n;
        uint32_t devices, nodes; /* most that may be used; 0: unlimited and not counted */
        uint32_t stays; /* N_STAYS; 1 if no node has several devices, as stays are not distinguished then */
        bool is_only_node; /* all layers are on one node, whose devices these are */
        double tie_nsec;
        double *outside;         /* least time without the current node, of each state */
        double *inside[N_STAYS]; /* least time with a device of it */
        double *next[N_STAYS];
        uint32_t *queue;
        Choice *choice; /* [place in the order][stay][cell]: how each cell of inside came about */
        uint8_t *taken; /* [place in the order][cell]: at the last device of a node, 1 + the best stay; 0 if
                           the node is not used */
} Table;

static size_t row_offset(const Table *table, uint32_t devices, uint32_t nodes, uint32_t roles)
{
        size_t count = (size_t) devices * (table->nodes + 1) + nodes;

        return (count * ALD_PLACEMENT_N_ROLES + roles) * (table->problem->layers + 1);
}

static size_t count_cells(const Table *table)
{
        return row_offset(table, table->devices + 1, 0, 0);
}

/* Returns the number of cells over all devices and stays. */
static size_t count_all_cells(const Table *table)
{
        return count_cells(table) * table->n * table->stays;
}

static Choice *choices(const Table *table, uint32_t place, uint32_t stay)
{
        return table->choice + (place * table->stays + stay) * count_cells(table);
}

static void free_cells(Table *table)
{
        g_free(table->outside);
        for (uint32_t i = 0; i < N_STAYS; i++) {
                g_free(table->inside[i]);
                g_free(table->next[i]);
        }
        g_free(table->choice);
        g_free(table->taken);
}

static void table_clear(Table *table)
{
        g_free(table->order);
        g_free(table->queue);
        free_cells(table);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Table, table_clear)

static void fill_infinite(const Table *table, double *nsec)
{
        for (size_t i = 0; i < count_cells(table); i++)
                nsec[i] = INFINITY;
}

/* Returns whether the device is required, or usable in some role. */
static bool is_of_use(
        const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs, uint32_t device)
{
        bool useful = problem->devices[device].required;

        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                useful |= ald_placement_role_cost(role_costs, device, role)->use_nsec < INFINITY &&
                          ald_placement_role_cost(role_costs, device, role)->layers_max > 0;
        return useful;
}

static int compare_nodes(const void *a, const void *b, void *userdata)
{
        const uint32_t *nodes = userdata, x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        if (nodes && nodes[x] != nodes[y])
                return nodes[x] < nodes[y] ? -1 : 1;
        return x < y ? -1 : x > y;
}

/* Lowers each with[layers] to before[fewer layers] plus the remaining layers on the device in this role. The
 * best number of fewer layers within reach is at the head of the queue, as in a sliding minimum. */
static void extend_row(const Table *table, uint32_t device, Choice as, double visit_nsec,
        const double *before, double *with, Choice *choice)
{
        const AldPlacementRoleCost *role_cost = ald_placement_role_cost(table->role_costs, device, as.role);
        double layer_nsec = table->problem->devices[device].layer_nsec;
        double use_nsec = role_cost->use_nsec + visit_nsec + table->tie_nsec;
        uint32_t head = 0, tail = 0, *queue = table->queue;

        for (uint32_t layers = 1; layers <= table->problem->layers; layers++) {
                uint32_t fewer = layers - 1;
                double nsec;

                while (tail > head && before[queue[tail - 1]] - queue[tail - 1] * layer_nsec >
                                              before[fewer] - fewer * layer_nsec)
                        tail--;
                if (before[fewer] < INFINITY)
                        queue[tail++] = fewer;
                while (tail > head && layers - queue[head] > role_cost->layers_max)
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

static double visit_nsec(const Table *table, uint32_t device, AldPlacementRole role)
{
        return ald_placement_role_cost(table->role_costs, device, role)->visit_nsec;
}

static double after_nsec(const Table *table, uint32_t device)
{
        return ald_placement_role_cost(table->role_costs, device, ALD_PLACEMENT_PLAIN)->after_nsec;
}

/* Returns how much longer the visits to a device's node take if it is used after other devices of that node.
 * `rest` is the set of roles that earlier devices have. */
static double more_nsec(
        const Table *table, uint32_t device, AldPlacementRole role, Stay stay, AldPlacementRole rest)
{
        double after = after_nsec(table, device);

        if (table->is_only_node)
                return after + visit_nsec(table, device, rest | role) - visit_nsec(table, device, rest);
        if (stay == STAY_PLAIN)
                return after + visit_nsec(table, device, role) -
                       visit_nsec(table, device, ALD_PLACEMENT_PLAIN);
        return role == ALD_PLACEMENT_PLAIN ? after : visit_nsec(table, device, role);
}

static uint32_t stay_with(const Table *table, AldPlacementRole role, uint32_t before)
{
        return role == ALD_PLACEMENT_PLAIN && before == STAY_PLAIN ? STAY_PLAIN : table->stays - 1;
}

/* One extension of the table by the device at a place of the order. The counts of devices and nodes and the
 * roles include it. */
typedef struct Extension {
        uint32_t place, devices, nodes, roles;
        AldPlacementRole role;
} Extension;

static void extend_inside(Table *table, const Extension *of)
{
        uint32_t device = table->order[of->place], rest = of->roles & ~of->role;
        uint32_t others = table->devices ? of->devices - 1 : 0;
        size_t to = row_offset(table, of->devices, of->nodes, of->roles);

        for (uint32_t before = 0; before < table->stays; before++) {
                uint32_t with = stay_with(table, of->role, before);

                extend_row(table, device, (Choice){ .role = of->role, .after_end = before == STAY_END },
                        more_nsec(table, device, of->role, before, rest),
                        table->inside[before] + row_offset(table, others, of->nodes, rest),
                        table->next[with] + to, choices(table, of->place, with) + to);
        }
}

static void extend_outside(Table *table, const Extension *of)
{
        uint32_t device = table->order[of->place], rest = of->roles & ~of->role;
        uint32_t others = table->devices ? of->devices - 1 : 0;
        uint32_t with = stay_with(table, of->role, STAY_PLAIN);
        size_t to = row_offset(table, of->devices, of->nodes, of->roles);

        extend_row(table, device, (Choice){ .role = of->role, .opens = 1 },
                visit_nsec(table, device, of->role),
                table->outside + row_offset(table, others, table->nodes ? of->nodes - 1 : 0, rest),
                table->next[with] + to, choices(table, of->place, with) + to);
}

static bool are_on_one_node(const AldPlacementProblem *problem, uint32_t a, uint32_t b)
{
        return a == b || (problem->nodes && problem->nodes[a] == problem->nodes[b]);
}

static bool is_first_of_node(const Table *table, uint32_t place)
{
        return place == 0 || !are_on_one_node(table->problem, table->order[place], table->order[place - 1]);
}

static bool is_last_of_node(const Table *table, uint32_t place)
{
        return place + 1 == table->n ||
               !are_on_one_node(table->problem, table->order[place], table->order[place + 1]);
}

static uint32_t end_of_node(const Table *table, uint32_t first)
{
        uint32_t end = first + 1;

        while (end < table->n && !is_first_of_node(table, end))
                end++;
        return end;
}

static void extend_roles(Table *table, uint32_t place, uint32_t devices, uint32_t nodes)
{
        for (uint32_t roles = 0; roles <= ALL_ROLES; roles++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        const Extension of = { place, devices, nodes, roles, role };

                        if ((role & ~roles) ||
                                !(ald_placement_role_cost(table->role_costs, table->order[place], role)
                                                ->use_nsec < INFINITY))
                                continue;
                        if (!is_first_of_node(table, place))
                                extend_inside(table, &of);
                        if (!table->nodes || nodes > 0)
                                extend_outside(table, &of);
                }
}

static void add_device(Table *table, uint32_t place)
{
        bool required = table->problem->devices[table->order[place]].required;

        for (uint32_t stay = 0; stay < table->stays; stay++)
                if (required)
                        fill_infinite(table, table->next[stay]);
                else
                        memcpy(table->next[stay], table->inside[stay],
                                count_cells(table) * sizeof *table->next[stay]);
        for (uint32_t devices = table->devices ? 1 : 0; devices <= table->devices; devices++)
                for (uint32_t nodes = 0; nodes <= table->nodes; nodes++)
                        extend_roles(table, place, devices, nodes);
        if (required)
                fill_infinite(table, table->outside);
        for (uint32_t stay = 0; stay < table->stays; stay++) {
                double *swap = table->inside[stay];

                table->inside[stay] = table->next[stay];
                table->next[stay] = swap;
        }
}

static void end_node(Table *table, uint32_t place)
{
        uint8_t *taken = table->taken + place * count_cells(table);

        for (size_t i = 0; i < count_cells(table); i++) {
                taken[i] = 0;
                for (uint32_t stay = 0; stay < table->stays; stay++) {
                        if (table->inside[stay][i] < table->outside[i]) {
                                taken[i] = (uint8_t) (1 + stay);
                                table->outside[i] = table->inside[stay][i];
                        }
                        table->inside[stay][i] = INFINITY;
                }
        }
}

typedef struct FoundStage {
        AldPlacementStage stage;
        AldPlacementRole role;
        uint32_t place, rank;
} FoundStage;

/* Returns the rank of a device in the order of the stages: devices on the node of the first stage come right
 * after it, and those on the node of the last stage right before that. */
static uint32_t rank_of(
        const Table *table, const FoundStage *found, const FoundStage *first, const FoundStage *last)
{
        uint32_t device = found->stage.device;

        if (found->role & ALD_PLACEMENT_FIRST)
                return 0;
        if (found->role & ALD_PLACEMENT_LAST)
                return 4;
        if (are_on_one_node(table->problem, device, first->stage.device))
                return 1;
        return are_on_one_node(table->problem, device, last->stage.device) ? 3 : 2;
}

static int compare_found(const void *a, const void *b)
{
        const FoundStage *x = a, *y = b;

        if (x->rank != y->rank)
                return x->rank < y->rank ? -1 : 1;
        return x->place < y->place ? -1 : 1;
}

static const FoundStage *find_role(const FoundStage *found, uint32_t n, AldPlacementRole role)
{
        for (uint32_t i = 0; i < n; i++)
                if (found[i].role & role)
                        return &found[i];
        return found;
}

/* Returns the time of stages in their order: the visits to nodes, and what each device costs. */
static double nsec_of(const Table *table, const FoundStage *found, uint32_t n)
{
        AldPlacementRole roles = ALD_PLACEMENT_PLAIN;
        double nsec = 0;

        for (uint32_t i = 0; i < n; i++) {
                const AldPlacementStage *stage = &found[i].stage;
                const AldPlacementDevice *device = &table->problem->devices[stage->device];
                bool is_first = i == 0 ||
                                !are_on_one_node(table->problem, stage->device, found[i - 1].stage.device);
                bool is_last = i + 1 == n ||
                               !are_on_one_node(table->problem, stage->device, found[i + 1].stage.device);

                roles = is_first ? found[i].role : roles | found[i].role;
                nsec += stage->layers * device->layer_nsec +
                        ald_placement_role_cost(table->role_costs, stage->device, found[i].role)->use_nsec;
                nsec += is_first ? 0 : after_nsec(table, stage->device);
                nsec += is_last ? visit_nsec(table, stage->device, roles) : 0;
        }
        return nsec;
}

static void order_stages(const Table *table, FoundStage *found, uint32_t n, AldPlacementStarSolution *ret)
{
        const FoundStage first = *find_role(found, n, ALD_PLACEMENT_FIRST);
        const FoundStage last = *find_role(found, n, ALD_PLACEMENT_LAST);

        for (uint32_t i = 0; i < n; i++)
                found[i].rank = rank_of(table, &found[i], &first, &last);
        qsort(found, n, sizeof *found, compare_found);
        *ret = (AldPlacementStarSolution){
                .stages = g_new(AldPlacementStage, n), .n_stages = n, .nsec = nsec_of(table, found, n)
        };
        for (uint32_t i = 0; i < n; i++) {
                ret->stages[i] = found[i].stage;
                if (found[i].role & ALD_PLACEMENT_LAST)
                        ret->last = i;
        }
}

static void build_solution(
        const Table *table, uint32_t devices, uint32_t nodes, AldPlacementStarSolution *ret)
{
        g_autofree FoundStage *found = g_new(FoundStage, table->problem->layers);
        uint32_t layers = table->problem->layers, roles = ALL_ROLES, n = 0, stay = 0;
        bool skips = false;

        for (uint32_t place = table->n; place-- > 0;) {
                size_t cell = row_offset(table, devices, nodes, roles) + layers;
                Choice chosen;

                if (is_last_of_node(table, place)) {
                        uint8_t taken = table->taken[place * count_cells(table) + cell];

                        skips = taken == 0;
                        stay = skips ? 0 : taken - 1u;
                }
                chosen = choices(table, place, stay)[cell];
                if (skips || chosen.layers == 0)
                        continue;
                found[n++] = (FoundStage){ { table->order[place], chosen.layers }, chosen.role, place, 0 };
                layers -= chosen.layers;
                roles &= ~chosen.role;
                devices -= table->devices > 0;
                nodes -= table->nodes > 0 && chosen.opens;
                skips = chosen.opens;
                stay = chosen.after_end ? table->stays - 1 : STAY_PLAIN;
        }
        order_stages(table, found, n, ret);
}

static void table_init(
        Table *table, const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs)
{
        double least = INFINITY;

        *table = (Table){
                .problem = problem, .role_costs = role_costs, .order = g_new(uint32_t, problem->n_devices)
        };
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                least = fmin(least, problem->devices[i].layer_nsec);
                if (is_of_use(problem, role_costs, i))
                        table->order[table->n++] = i;
        }
        g_qsort_with_data(table->order, (gint) table->n, sizeof *table->order, compare_nodes,
                (gpointer) problem->nodes);
        table->stays = 1;
        for (uint32_t place = 0; place < table->n; place++)
                if (!is_first_of_node(table, place))
                        table->stays = N_STAYS;
        table->tie_nsec = TIE * least * problem->layers;
        table->queue = g_new(uint32_t, problem->layers);
}

static void table_fill(Table *table)
{
        free_cells(table);
        table->outside = g_new(double, count_cells(table));
        fill_infinite(table, table->outside);
        for (uint32_t stay = 0; stay < table->stays; stay++) {
                table->inside[stay] = g_new(double, count_cells(table));
                table->next[stay] = g_new(double, count_cells(table));
                fill_infinite(table, table->inside[stay]);
        }
        table->choice = g_new0(Choice, count_all_cells(table));
        table->taken = g_new(uint8_t, count_cells(table) * table->n);
        table->outside[row_offset(table, 0, 0, 0)] = 0;
        for (uint32_t place = 0; place < table->n; place++) {
                add_device(table, place);
                if (is_last_of_node(table, place))
                        end_node(table, place);
        }
}

static int solve_table(Table *table, uint64_t *work, AldPlacementStarSolution *ret)
{
        uint32_t best_devices = 0, best_nodes = 0;
        double best = INFINITY;

        *work += count_all_cells(table);
        table_fill(table);
        for (uint32_t devices = 0; devices <= table->devices; devices++)
                for (uint32_t nodes = 0; nodes <= table->nodes; nodes++) {
                        double nsec = table->outside[row_offset(table, devices, nodes, ALL_ROLES) +
                                                     table->problem->layers];

                        if (!(nsec < best))
                                continue;
                        best = nsec;
                        best_devices = devices;
                        best_nodes = nodes;
                }
        if (!(best < INFINITY))
                return -ENOSPC;
        build_solution(table, best_devices, best_nodes, ret);
        return 0;
}

/* Returns whether all layers on the devices of this node alone may be best: no other device is required, and
 * one visit in both roles costs less than two. */
static bool may_be_only(const Table *table, uint32_t first, uint32_t end)
{
        uint32_t device = table->order[first];

        for (uint32_t i = 0; i < table->n; i++)
                if ((i < first || i >= end) && table->problem->devices[table->order[i]].required)
                        return false;
        return end - first > 1 && visit_nsec(table, device, ALD_PLACEMENT_BOTH) <
                                          visit_nsec(table, device, ALD_PLACEMENT_FIRST) +
                                                  visit_nsec(table, device, ALD_PLACEMENT_LAST);
}

/* Solves the problem on the devices of one node alone, which is then visited once. */
static int solve_only_node(
        const Table *table, uint32_t first, uint32_t end, uint64_t *work, AldPlacementStarSolution *ret)
{
        g_auto(Table) one = { .problem = table->problem,
                .role_costs = table->role_costs,
                .order = g_memdup2(table->order + first, (end - first) * sizeof *table->order),
                .n = end - first,
                .devices = table->devices < end - first ? table->devices : 0,
                .stays = N_STAYS,
                .is_only_node = true,
                .tie_nsec = table->tie_nsec,
                .queue = g_new(uint32_t, table->problem->layers) };

        if (one.devices > 0 && count_all_cells(&one) > ALD_PLACEMENT_STAR_CELLS)
                return -E2BIG;
        return solve_table(&one, work, ret);
}

void ald_placement_star_solution_clear(AldPlacementStarSolution *solution)
{
        g_free(solution->stages);
        *solution = (AldPlacementStarSolution){};
}

/* Chooses the better of two solutions, either of which may be missing, and clears the other. */
static int choose_better(int r, AldPlacementStarSolution *ret, int other_r, AldPlacementStarSolution *other)
{
        if (other_r < 0)
                return r;
        if (r >= 0 && ret->nsec <= other->nsec) {
                ald_placement_star_solution_clear(other);
                return r;
        }
        if (r >= 0)
                ald_placement_star_solution_clear(ret);
        *ret = *other;
        return 0;
}

/* Solves the problem on each single node. *is_exact becomes false if a node has too many devices to be
 * solved. */
static int solve_only_nodes(const Table *table, uint64_t *work, AldPlacementStarSolution *ret, bool *is_exact)
{
        int r = -ENOSPC;

        for (uint32_t first = 0, end; first < table->n; first = end) {
                AldPlacementStarSolution found;
                int found_r;

                end = end_of_node(table, first);
                if (!may_be_only(table, first, end))
                        continue;
                found_r = solve_only_node(table, first, end, work, &found);
                if (found_r == -E2BIG)
                        *is_exact = false;
                r = choose_better(r, ret, found_r, &found);
        }
        return r;
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

/* Sets the limits of the table, leaving out those that restrict nothing. Returns false if counting nodes
 * takes too many cells, so that fewer devices than allowed are considered instead. */
static bool set_limits(Table *table)
{
        const AldPlacementProblem *problem = table->problem;
        uint32_t devices = problem->devices_max, nodes = problem->nodes_max;
        uint32_t most = MIN(table->n, problem->layers);

        table->devices = devices < most ? devices : 0;
        if (nodes == 0 || nodes >= most || (devices > 0 && nodes >= devices))
                return true;
        table->nodes = nodes;
        if (count_all_cells(table) <= ALD_PLACEMENT_STAR_CELLS)
                return true;
        table->devices = nodes;
        table->nodes = 0;
        return false;
}

static bool is_alone(const Table *table, uint32_t place)
{
        return is_first_of_node(table, place) && is_last_of_node(table, place);
}

/* Returns whether any solution with the device at place b could use the one at place a instead and take no
 * longer. Of several devices of a node, one may still need the visit that another one no longer needs. */
static bool is_no_worse(const Table *table, uint32_t a, uint32_t b)
{
        const AldPlacementProblem *problem = table->problem;
        const uint32_t *order = table->order;
        const AldPlacementDevice *x = &problem->devices[order[a]], *y = &problem->devices[order[b]];
        bool is_same = x->layer_nsec == y->layer_nsec,
             together = are_on_one_node(problem, order[a], order[b]);
        double plain = visit_nsec(table, order[b], ALD_PLACEMENT_PLAIN);

        if (x->layer_nsec > y->layer_nsec || x->required || y->required)
                return false;
        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                const AldPlacementRoleCost *one = ald_placement_role_cost(table->role_costs, order[a], role);
                const AldPlacementRoleCost *other = ald_placement_role_cost(
                        table->role_costs, order[b], role);
                double costs = one->use_nsec + (together ? 0
                                                       : is_alone(table, a)
                                                               ? one->visit_nsec
                                                               : one->visit_nsec + one->after_nsec);
                double saves = other->use_nsec + (together ? 0
                                                         : is_alone(table, b)
                                                                 ? other->visit_nsec
                                                                 : MIN(0, other->visit_nsec - plain));

                if (costs > saves || one->layers_max < other->layers_max)
                        return false;
                is_same = is_same && costs == saves && one->layers_max == other->layers_max;
        }
        return !is_same || a < b;
}

/* Returns whether the device at place b could be replaced by the one at place a if no device of a's node is
 * used and all devices of b's node are replaced in this way. *is_same remains true if a could be replaced by
 * b, too. */
static bool can_replace_like(const Table *table, uint32_t a, uint32_t b, bool *is_same)
{
        const AldPlacementDevice *x = &table->problem->devices[table->order[a]];
        const AldPlacementDevice *y = &table->problem->devices[table->order[b]];

        if (x->layer_nsec > y->layer_nsec || x->required || y->required)
                return false;
        *is_same = *is_same && x->layer_nsec == y->layer_nsec;
        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                const AldPlacementRoleCost *one = ald_placement_role_cost(
                        table->role_costs, table->order[a], role);
                const AldPlacementRoleCost *other = ald_placement_role_cost(
                        table->role_costs, table->order[b], role);

                if (one->use_nsec > other->use_nsec || one->visit_nsec > other->visit_nsec ||
                        one->after_nsec > other->after_nsec || one->layers_max < other->layers_max)
                        return false;
                *is_same = *is_same && one->use_nsec == other->use_nsec &&
                           one->visit_nsec == other->visit_nsec && one->after_nsec == other->after_nsec &&
                           one->layers_max == other->layers_max;
        }
        return true;
}

/* Returns whether any solution with devices of the node that begins at place b could use those of the node at
 * place a instead. */
static bool is_node_no_worse(const Table *table, uint32_t a, uint32_t b)
{
        uint32_t n = end_of_node(table, b) - b;
        bool is_same = true;

        if (a == b || end_of_node(table, a) - a < n)
                return false;
        for (uint32_t i = 0; i < n; i++)
                if (!can_replace_like(table, a + i, b + i, &is_same))
                        return false;
        return !is_same || a < b;
}

static bool is_node_needless(const Table *table, uint32_t first)
{
        uint32_t better = 0;

        for (uint32_t other = 0; other < table->n && better < table->devices;
                other = end_of_node(table, other))
                better += is_node_no_worse(table, other, first);
        return better >= table->devices;
}

/* Drops devices that are never needed: as many devices as may be used are no worse, so one of those is always
 * left. */
static void drop_needless(Table *table)
{
        uint32_t n = 0;
        g_autofree bool *needless = g_new0(bool, table->n);

        for (uint32_t i = 0; i < table->n; i++) {
                uint32_t better = 0;

                for (uint32_t j = 0; j < table->n && better < table->devices; j++)
                        better += is_no_worse(table, j, i);
                needless[i] = better >= table->devices;
        }
        for (uint32_t first = 0; table->stays > 1 && first < table->n; first = end_of_node(table, first))
                if (is_node_needless(table, first))
                        for (uint32_t i = first; i < end_of_node(table, first); i++)
                                needless[i] = true;
        for (uint32_t i = 0; i < table->n; i++)
                if (!needless[i])
                        table->order[n++] = table->order[i];
        table->n = n;
}

/* Solves the problem with its limits. The single nodes come first, since devices that are needless beside
 * other nodes may be needed if only one node is used. */
static int solve_limited(Table *table, uint64_t *work, AldPlacementStarSolution *ret, double *ret_lower_nsec)
{
        AldPlacementStarSolution only;
        bool is_exact = set_limits(table);
        int only_r = solve_only_nodes(table, work, &only, &is_exact), r;

        if (table->nodes == 0) {
                *work += (uint64_t) table->n * table->n;
                drop_needless(table);
        }
        if (count_all_cells(table) > ALD_PLACEMENT_STAR_CELLS) {
                if (only_r >= 0)
                        ald_placement_star_solution_clear(&only);
                return -E2BIG;
        }
        r = choose_better(solve_table(table, work, ret), ret, only_r, &only);
        if (is_exact)
                *ret_lower_nsec = r < 0 ? INFINITY : ret->nsec;
        return r;
}

int ald_placement_solve_star(const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs,
        double below_nsec, uint64_t *work, AldPlacementStarSolution *ret, double *ret_lower_nsec)
{
        AldPlacementStarSolution only;
        g_auto(Table) table;
        bool is_exact = true;
        int only_r, r;

        table_init(&table, problem, role_costs);
        *ret_lower_nsec = INFINITY;
        only_r = solve_only_nodes(&table, work, &only, &is_exact);
        r = choose_better(solve_table(&table, work, ret), ret, only_r, &only);
        if (r < 0)
                return r;
        *ret_lower_nsec = ret->nsec;
        if (ret->nsec < below_nsec && !is_within_limits(problem, ret)) {
                ald_placement_star_solution_clear(ret);
                r = solve_limited(&table, work, ret, ret_lower_nsec);
                if (r < 0)
                        return r;
        }
        if (ret->nsec < below_nsec)
                return 0;
        ald_placement_star_solution_clear(ret);
        return -ENOSPC;
}
