/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "placement/even.h"
#include "placement/gather.h"

#define ROUNDING 1e-12 /* relative error of a sum whose terms are in another order */

void ald_placement_drop_even(AldPlacementProblem *problem)
{
        g_autofree uint32_t *devices = NULL;

        if (!problem->nodes_even)
                return;
        devices = g_new(uint32_t, problem->n_devices);
        for (uint32_t i = 0; i < problem->n_devices; i++)
                devices[i] = i;
        if (ald_placement_count_nodes(problem, devices, problem->n_devices) == problem->n_devices)
                problem->nodes_even = false;
}

/* The nodes that have a device with room. */
typedef struct EvenNodes {
        const AldPlacementProblem *problem;
        uint32_t n;
        uint32_t *begin;              /* where each node begins in the next two, then their length */
        uint32_t *by_speed, *by_room; /* devices grouped by node, required ones first */
        uint32_t *n_required;         /* of each node */
        /* [from * n + to]: the least hop between devices of two nodes, or of one; the second is for closing
         * hops */
        double *hop_nsec, *closing_nsec;
        AldPlacementSolution best;
        double lower_nsec;
        bool fits; /* the layers fit on some choice of devices */
} EvenNodes;

static void even_nodes_clear(EvenNodes *nodes)
{
        g_free(nodes->begin);
        g_free(nodes->by_speed);
        g_free(nodes->by_room);
        g_free(nodes->n_required);
        g_free(nodes->hop_nsec);
        g_free(nodes->closing_nsec);
        ald_placement_solution_clear(&nodes->best);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EvenNodes, even_nodes_clear)

static int compare_nodes(const AldPlacementProblem *problem, uint32_t i, uint32_t j)
{
        if (problem->nodes[i] != problem->nodes[j])
                return problem->nodes[i] < problem->nodes[j] ? -1 : 1;
        return (int) problem->devices[j].required - (int) problem->devices[i].required;
}

static int compare_speed(const void *a, const void *b, void *userdata)
{
        const AldPlacementProblem *problem = userdata;
        uint32_t i = *(const uint32_t *) a, j = *(const uint32_t *) b;
        double left = problem->devices[i].layer_nsec, right = problem->devices[j].layer_nsec;
        int r = compare_nodes(problem, i, j);

        return r != 0 ? r : left < right ? -1 : left > right ? 1 : (i > j) - (i < j);
}

static int compare_room(const void *a, const void *b, void *userdata)
{
        const AldPlacementProblem *problem = userdata;
        uint32_t i = *(const uint32_t *) a, j = *(const uint32_t *) b;
        uint32_t left = problem->devices[i].layers_max, right = problem->devices[j].layers_max;
        int r = compare_nodes(problem, i, j);

        return r != 0 ? r : left > right ? -1 : left < right ? 1 : compare_speed(a, b, userdata);
}

static double least_hop(const EvenNodes *nodes, const double *nsec, uint32_t from, uint32_t to)
{
        double least = INFINITY;

        for (uint32_t i = nodes->begin[from]; i < nodes->begin[from + 1]; i++)
                for (uint32_t j = nodes->begin[to]; j < nodes->begin[to + 1]; j++)
                        if (i != j)
                                least = fmin(
                                        least, nsec[(size_t) nodes->by_speed[i] * nodes->problem->n_devices +
                                                       nodes->by_speed[j]]);
        return least;
}

static double *least_hops(const EvenNodes *nodes, const double *nsec)
{
        double *least = g_new(double, (size_t) nodes->n * nodes->n);

        for (uint32_t i = 0; i < nodes->n; i++)
                for (uint32_t j = 0; j < nodes->n; j++)
                        least[(size_t) i * nodes->n + j] = least_hop(nodes, nsec, i, j);
        return least;
}

static void even_nodes_init(EvenNodes *nodes, const AldPlacementProblem *problem)
{
        uint32_t n = 0;

        *nodes = (EvenNodes){ .problem = problem,
                .begin = g_new(uint32_t, problem->n_devices + 1),
                .by_speed = g_new(uint32_t, problem->n_devices),
                .n_required = g_new0(uint32_t, problem->n_devices),
                .lower_nsec = INFINITY };
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (problem->devices[i].layers_max > 0)
                        nodes->by_speed[n++] = i;
        nodes->by_room = g_memdup2(nodes->by_speed, n * sizeof nodes->by_speed[0]);
        if (n > 0) {
                qsort_r(nodes->by_speed, n, sizeof nodes->by_speed[0], compare_speed, (void *) problem);
                qsort_r(nodes->by_room, n, sizeof nodes->by_room[0], compare_room, (void *) problem);
        }
        for (uint32_t i = 0; i < n; i++) {
                uint32_t device = nodes->by_speed[i];

                if (i == 0 || problem->nodes[device] != problem->nodes[nodes->by_speed[i - 1]])
                        nodes->begin[nodes->n++] = i;
                nodes->n_required[nodes->n - 1] += problem->devices[device].required;
        }
        nodes->begin[nodes->n] = n;
        nodes->hop_nsec = least_hops(nodes, problem->hop_nsec);
        if (ald_placement_has_closing_cost(problem))
                nodes->closing_nsec = least_hops(nodes, problem->closing_nsec);
}

static double node_hop(const EvenNodes *nodes, uint32_t from, uint32_t to)
{
        return nodes->hop_nsec[(size_t) from * nodes->n + to];
}

/* A problem in which each node is one stage, with the same number of its devices. */
typedef struct EvenStages {
        AldPlacementProblem problem;
        uint32_t each;
        uint32_t *nodes; /* the node of each device of the problem */
        AldPlacementDevice *devices;
        AldPlacementEnds *ends;
        double *hop_nsec, *closing_nsec;
} EvenStages;

static void even_stages_clear(EvenStages *stages)
{
        g_free(stages->nodes);
        g_free(stages->devices);
        g_free(stages->ends);
        g_free(stages->hop_nsec);
        g_free(stages->closing_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EvenStages, even_stages_clear)

/* Combines the ends of a node's devices, any of which may be the end if it has room for a layer: takes the
 * least times, and the least loss of room. */
static AldPlacementEnds find_ends(const EvenNodes *nodes, uint32_t node, uint32_t layers_max)
{
        const AldPlacementProblem *problem = nodes->problem;
        AldPlacementEnds found = { .layers_max_first = layers_max, .layers_max_last = layers_max };
        uint32_t less_first = UINT32_MAX, less_last = UINT32_MAX;

        if (!problem->ends)
                return found;
        found.first_nsec = found.last_nsec = INFINITY;
        for (uint32_t i = nodes->begin[node]; i < nodes->begin[node + 1]; i++) {
                const AldPlacementEnds *ends = &problem->ends[nodes->by_speed[i]];
                uint32_t most = MIN(problem->devices[nodes->by_speed[i]].layers_max, problem->layers);

                found.first_nsec = fmin(found.first_nsec, ends->first_nsec);
                found.last_nsec = fmin(found.last_nsec, ends->last_nsec);
                if (ends->layers_max_first > 0)
                        less_first = MIN(less_first, most - MIN(most, ends->layers_max_first));
                if (ends->layers_max_last > 0)
                        less_last = MIN(less_last, most - MIN(most, ends->layers_max_last));
        }
        found.layers_max_first -= MIN(layers_max, less_first);
        found.layers_max_last -= MIN(layers_max, less_last);
        return found;
}

/* Adds a node as a stage with the room of its `each` roomiest devices. It has no room as both ends, since
 * rings on a single node are searched separately. */
static void add_node(EvenStages *stages, const EvenNodes *nodes, uint32_t node)
{
        const AldPlacementProblem *problem = nodes->problem;
        AldPlacementDevice *made = &stages->devices[stages->problem.n_devices];
        uint32_t begin = nodes->begin[node], end = nodes->begin[node + 1];
        g_autofree uint32_t *rooms = g_new(uint32_t, end - begin);

        *made = (AldPlacementDevice){ .layer_nsec = INFINITY, .required = nodes->n_required[node] > 0 };
        for (uint32_t i = begin; i < end; i++) {
                const AldPlacementDevice *device = &problem->devices[nodes->by_speed[i]];
                uint32_t room = MIN(device->layers_max, problem->layers), at = i - begin;

                made->layer_nsec = fmin(made->layer_nsec, device->layer_nsec);
                for (; at > 0 && rooms[at - 1] < room; at--)
                        rooms[at] = rooms[at - 1];
                rooms[at] = room;
        }
        for (uint32_t i = 0; i < stages->each; i++)
                made->layers_max += rooms[i];
        stages->ends[stages->problem.n_devices] = find_ends(nodes, node, made->layers_max);
        stages->nodes[stages->problem.n_devices++] = node;
}

/* Sets the hops from stage to stage, each including the hops within the node that it leaves. */
static void set_hops(const EvenStages *stages, const EvenNodes *nodes, const double *between, double *ret)
{
        uint32_t n = stages->problem.n_devices;

        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++) {
                        uint32_t from = stages->nodes[i], to = stages->nodes[j];

                        ret[(size_t) i * n + j] = between[(size_t) from * nodes->n + to] +
                                                  (stages->each > 1 ? (stages->each - 1) *
                                                                              node_hop(nodes, from, from)
                                                                    : 0);
                }
}

/* Returns false if no such ring of two or more nodes exists. */
static bool even_stages_init(EvenStages *stages, const EvenNodes *nodes, uint32_t each)
{
        const AldPlacementProblem *problem = nodes->problem;
        uint32_t n = nodes->n, most = problem->devices_max > 0 ? problem->devices_max : problem->layers;

        *stages = (EvenStages){ .each = each,
                .nodes = g_new(uint32_t, n),
                .devices = g_new(AldPlacementDevice, n),
                .ends = g_new(AldPlacementEnds, n),
                .hop_nsec = g_new(double, (size_t) n *n),
                .closing_nsec = nodes->closing_nsec ? g_new(double, (size_t) n *n) : NULL };
        most = MIN(most, problem->layers) / each;
        stages->problem = (AldPlacementProblem){ .layers = problem->layers,
                .devices = stages->devices,
                .hop_nsec = stages->hop_nsec,
                .closing_nsec = stages->closing_nsec,
                .layers_min = each,
                .devices_max = problem->nodes_max > 0 ? MIN(most, problem->nodes_max) : most,
                .ends = stages->ends,
                .proceed = problem->proceed,
                .userdata = problem->userdata };
        for (uint32_t i = 0; i < n; i++) {
                bool can = nodes->begin[i + 1] - nodes->begin[i] >= each &&
                           (each == 1 || node_hop(nodes, i, i) < INFINITY);

                if (nodes->n_required[i] > (can ? each : 0))
                        return false;
                if (can)
                        add_node(stages, nodes, i);
        }
        n = stages->problem.n_devices;
        set_hops(stages, nodes, nodes->hop_nsec, stages->hop_nsec);
        if (nodes->closing_nsec)
                set_hops(stages, nodes, nodes->closing_nsec, stages->closing_nsec);
        return n > 1 && stages->problem.devices_max > 1;
}

/* Tries the ring that uses the first devices of each node, in the order of `devices`. */
static void try_devices(
        EvenNodes *nodes, const EvenStages *stages, const AldPlacementSolution *of, const uint32_t *devices)
{
        AldPlacementSolution found = { .stages = g_new0(AldPlacementStage, of->n_stages * stages->each) };

        for (uint32_t i = 0; i < of->n_stages; i++)
                for (uint32_t j = 0; j < stages->each; j++)
                        found.stages[found.n_stages++].device =
                                devices[nodes->begin[stages->nodes[of->stages[i].device]] + j];
        if (ald_placement_order_by_node(nodes->problem, &found))
                ald_placement_solution_keep(&found, &nodes->best);
        else
                ald_placement_solution_clear(&found);
}

/* Tries rings with this number of devices per node. Returns 0 or -ECANCELED. */
static int try_devices_per_node(EvenNodes *nodes, AldPlacementSolver *solve, uint32_t each)
{
        g_auto(EvenStages) stages = { 0 };
        AldPlacementSolution found;
        double lower_nsec = 0;
        int r;

        if (!even_stages_init(&stages, nodes, each))
                return 0;
        r = solve(&stages.problem, &found, &lower_nsec);
        nodes->fits |= r != -ENOSPC;
        if (r != -ENOSPC)
                nodes->lower_nsec = fmin(nodes->lower_nsec, lower_nsec);
        if (r < 0)
                return r == -ECANCELED ? r : 0;
        try_devices(nodes, &stages, &found, nodes->by_speed);
        try_devices(nodes, &stages, &found, nodes->by_room);
        ald_placement_solution_clear(&found);
        return 0;
}

static int try_single_nodes(EvenNodes *nodes, AldPlacementSolver *solve)
{
        AldPlacementProblem single = *nodes->problem;
        double lower_nsec = 0;
        int r;

        single.nodes_max = 1;
        single.nodes_together = single.nodes_even = false;
        r = ald_placement_solve_nodes(&single, solve, &nodes->best, &lower_nsec);
        nodes->fits = r != -ENOSPC;
        nodes->lower_nsec = r == -ENOSPC ? INFINITY : lower_nsec;
        return r == -ECANCELED ? r : 0;
}

int ald_placement_solve_even(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec)
{
        g_auto(EvenNodes) nodes = { 0 };
        uint32_t most = 0;
        int r;

        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (problem->devices[i].required && problem->devices[i].layers_max == 0)
                        return -ENOSPC;
        even_nodes_init(&nodes, problem);
        for (uint32_t i = 0; i < nodes.n; i++)
                most = MAX(most, nodes.begin[i + 1] - nodes.begin[i]);
        r = try_single_nodes(&nodes, solve);
        for (uint32_t each = 1; each <= most && r >= 0; each++)
                r = try_devices_per_node(&nodes, solve, each);
        if (r < 0)
                return r;
        if (!nodes.best.stages)
                return nodes.fits ? -EHOSTUNREACH : -ENOSPC;
        *ret_lower_nsec = nodes.lower_nsec < nodes.best.nsec * (1 - ROUNDING) ? nodes.lower_nsec
                                                                              : nodes.best.nsec;
        *ret = nodes.best;
        nodes.best = (AldPlacementSolution){ 0 };
        return 0;
}
