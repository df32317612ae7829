/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/star.h"

#define DEVICES_MAX 6u
#define LAYERS_MAX 8u
#define NODES 3u
#define CASES 3000

typedef struct Case {
        AldPlacementDevice devices[DEVICES_MAX];
        AldPlacementRoleCost role_costs[DEVICES_MAX * ALD_PLACEMENT_N_ROLES];
        uint32_t nodes[DEVICES_MAX];
        AldPlacementProblem problem;
} Case;

/* Both roles take no longer in one visit than in two. */
static void make_visits(double visits[ALD_PLACEMENT_N_ROLES])
{
        double plain = g_test_rand_double_range(0, 8);
        double first = plain + g_test_rand_double_range(0, 4),
               last = plain * 0.8 + g_test_rand_double_range(0, 4);

        visits[ALD_PLACEMENT_PLAIN] = plain;
        visits[ALD_PLACEMENT_FIRST] = first;
        visits[ALD_PLACEMENT_LAST] = last;
        visits[ALD_PLACEMENT_BOTH] = fmax(first, last) + g_test_rand_double_range(0, 1) * fmin(first, last);
}

static void make_case(Case *made)
{
        uint32_t n = (uint32_t) g_test_rand_int_range(1, DEVICES_MAX + 1);
        bool is_tight = g_test_rand_int_range(0, 2), has_visits = g_test_rand_int_range(0, 4) > 0;
        double visits[NODES][ALD_PLACEMENT_N_ROLES] = {}, after[NODES] = {};

        for (uint32_t i = 0; has_visits && i < NODES; i++) {
                make_visits(visits[i]);
                after[i] = g_test_rand_double_range(0, 1) *
                           (visits[i][ALD_PLACEMENT_FIRST] + visits[i][ALD_PLACEMENT_LAST] -
                                   visits[i][ALD_PLACEMENT_BOTH]);
        }

        for (uint32_t i = 0; i < n; i++) {
                made->devices[i] = (AldPlacementDevice){ .layer_nsec = g_test_rand_double_range(1, 10),
                        .required = g_test_rand_int_range(0, 10) == 0 };
                made->nodes[i] = (uint32_t) g_test_rand_int_range(0, NODES);
                for (uint32_t j = 0; j < ALD_PLACEMENT_N_ROLES; j++)
                        made->role_costs[i * ALD_PLACEMENT_N_ROLES + j] = (AldPlacementRoleCost){
                                g_test_rand_int_range(0, 5) == 0 ? INFINITY : g_test_rand_double_range(0, 8),
                                g_test_rand_int_range(0, 20) == 0
                                        ? UINT32_MAX
                                        : (uint32_t) g_test_rand_int_range(0, is_tight ? 4 : LAYERS_MAX),
                                visits[made->nodes[i]][j], after[made->nodes[i]]
                        };
        }
        made->problem = (AldPlacementProblem){ .layers = (uint32_t) g_test_rand_int_range(1, LAYERS_MAX),
                .n_devices = n,
                .devices = made->devices,
                .devices_max = (uint32_t) g_test_rand_int_range(0, (int) n + 1),
                .nodes = made->nodes,
                .nodes_max = (uint32_t) g_test_rand_int_range(0, 4) };
}

/* Every choice of devices with every split and all ends. */
typedef struct Search {
        const Case *of;
        uint32_t layers[DEVICES_MAX];
        double best;
} Search;

/* Of all visits to a node. */
static double visits_cost(
        const Case *of, const uint32_t *layers, uint32_t node, uint32_t first, uint32_t last)
{
        const AldPlacementRoleCost *role_costs = NULL;
        AldPlacementRole roles = ALD_PLACEMENT_PLAIN;
        uint32_t n = 0, others = 0;
        double after = 0;

        for (uint32_t i = 0; i < of->problem.n_devices; i++) {
                if (layers[i] == 0 || of->nodes[i] != node) {
                        others += layers[i] > 0;
                        continue;
                }
                role_costs = &of->role_costs[i * ALD_PLACEMENT_N_ROLES];
                after = role_costs->after_nsec;
                roles |= (i == first ? ALD_PLACEMENT_FIRST : 0) | (i == last ? ALD_PLACEMENT_LAST : 0);
                n++;
        }
        if (n == 0)
                return 0;
        if (roles == ALD_PLACEMENT_BOTH && first != last && others > 0)
                return role_costs[ALD_PLACEMENT_FIRST].visit_nsec +
                       role_costs[ALD_PLACEMENT_LAST].visit_nsec + (n - 2) * after;
        return role_costs[roles].visit_nsec + (n - 1) * after;
}

static double cost(const Case *of, const uint32_t *layers, uint32_t first, uint32_t last)
{
        double nsec = 0;

        for (uint32_t node = 0; node < NODES; node++)
                nsec += visits_cost(of, layers, node, first, last);
        for (uint32_t i = 0; i < of->problem.n_devices; i++) {
                AldPlacementRole role = (i == first ? ALD_PLACEMENT_FIRST : 0) |
                                        (i == last ? ALD_PLACEMENT_LAST : 0);
                const AldPlacementRoleCost *role_cost = ald_placement_role_cost(of->role_costs, i, role);

                if (layers[i] == 0)
                        continue;
                nsec += layers[i] > role_cost->layers_max
                                ? INFINITY
                                : role_cost->use_nsec + layers[i] * of->devices[i].layer_nsec;
        }
        return nsec;
}

static bool is_allowed(const Case *of, const uint32_t *layers)
{
        uint32_t n = 0, nodes = 0, sum = 0;

        for (uint32_t i = 0; i < of->problem.n_devices; i++) {
                n += layers[i] > 0;
                nodes |= layers[i] > 0 ? 1u << of->nodes[i] : 0;
                sum += layers[i];
                if (of->devices[i].required && layers[i] == 0)
                        return false;
        }
        return sum == of->problem.layers && (of->problem.devices_max == 0 || n <= of->problem.devices_max) &&
               (of->problem.nodes_max == 0 || (uint32_t) __builtin_popcount(nodes) <= of->problem.nodes_max);
}

static void search(Search *self, uint32_t device, uint32_t left)
{
        const Case *of = self->of;

        if (device < of->problem.n_devices) {
                for (uint32_t n = 0; n <= left; n++) {
                        self->layers[device] = n;
                        search(self, device + 1, left - n);
                }
                return;
        }
        if (!is_allowed(of, self->layers))
                return;
        for (uint32_t first = 0; first < of->problem.n_devices; first++)
                for (uint32_t last = 0; last < of->problem.n_devices; last++)
                        if (self->layers[first] > 0 && self->layers[last] > 0)
                                self->best = fmin(self->best, cost(of, self->layers, first, last));
}

/* No node is left and visited again, but for its last layers. */
static void check_visits(const Case *made, const AldPlacementStarSolution *found)
{
        for (uint32_t i = 1; i < found->n_stages; i++)
                for (uint32_t j = 0; j + 1 < i; j++)
                        if (made->nodes[found->stages[j].device] == made->nodes[found->stages[i].device] &&
                                made->nodes[found->stages[i - 1].device] !=
                                        made->nodes[found->stages[i].device])
                                g_assert_cmpuint(i, ==, found->last);
}

static void check(const Case *made, const AldPlacementStarSolution *found, double best)
{
        uint32_t layers[DEVICES_MAX] = {};

        for (uint32_t i = 0; i < found->n_stages; i++)
                layers[found->stages[i].device] = found->stages[i].layers;
        g_assert_true(is_allowed(made, layers));
        g_assert_cmpfloat_with_epsilon(found->nsec, best, 1e-8);
        g_assert_cmpfloat_with_epsilon(
                cost(made, layers, found->stages[0].device, found->stages[found->last].device), best, 1e-8);
        g_assert_true(found->last == 0 || found->last + 1 == found->n_stages);
        check_visits(made, found);
}

static void test_is_best(void)
{
        unsigned n_found = 0;

        for (int i = 0; i < CASES; i++) {
                Search all = { .best = INFINITY };
                AldPlacementStarSolution found;
                uint64_t work = 0;
                double lower, price = NAN;
                Case made;
                int r;

                make_case(&made);
                all.of = &made;
                search(&all, 0, made.problem.layers);
                g_assert_cmpfloat(ald_placement_star_bound(&made.problem, made.role_costs, &price), <=,
                        all.best * (1 + 1e-12));
                price = g_test_rand_double_range(0, 20);
                g_assert_cmpfloat(ald_placement_star_bound(&made.problem, made.role_costs, &price), <=,
                        all.best * (1 + 1e-12));
                r = ald_placement_solve_star(&made.problem, made.role_costs, INFINITY, &work, &found, &lower);
                g_assert_cmpint(r, ==, isinf(all.best) ? -ENOSPC : 0);
                if (r < 0) {
                        g_assert_cmpfloat(lower, ==, INFINITY);
                        continue;
                }
                check(&made, &found, all.best);
                g_assert_cmpfloat(lower, ==, found.nsec);
                ald_placement_star_solution_clear(&found);
                r = ald_placement_solve_star(
                        &made.problem, made.role_costs, all.best * (1 - 1e-9), &work, &found, &lower);
                g_assert_cmpint(r, ==, -ENOSPC);
                g_assert_cmpfloat(lower, <=, all.best * (1 + 1e-9));
                n_found++;
        }
        g_assert_cmpuint(n_found, >, CASES / 4);
}

/* Too many to count devices as well as nodes: no worse than with fewer devices than nodes are allowed. */
static void test_limits(void)
{
        enum { N = 800, LAYERS = 80 };
        g_autofree AldPlacementDevice *devices = g_new0(AldPlacementDevice, N);
        g_autofree AldPlacementRoleCost *role_costs = g_new(AldPlacementRoleCost, N * ALD_PLACEMENT_N_ROLES);
        g_autofree uint32_t *nodes = g_new(uint32_t, N);
        const AldPlacementProblem problem = { .layers = LAYERS,
                .n_devices = N,
                .devices = devices,
                .devices_max = 15,
                .nodes = nodes,
                .nodes_max = 12 };
        AldPlacementStarSolution found;
        uint64_t work = 0;
        double lower;

        for (uint32_t i = 0; i < N; i++) {
                devices[i].layer_nsec = g_test_rand_double_range(1, 10);
                nodes[i] = i / 2;
                for (uint32_t j = 0; j < ALD_PLACEMENT_N_ROLES; j++)
                        role_costs[i * ALD_PLACEMENT_N_ROLES + j] = (AldPlacementRoleCost){
                                .use_nsec = g_test_rand_double_range(0, 8),
                                .layers_max = (uint32_t) g_test_rand_int_range(1, 8)
                        };
        }
        g_assert_cmpint(
                ald_placement_solve_star(&problem, role_costs, INFINITY, &work, &found, &lower), ==, 0);
        g_assert_cmpuint(found.n_stages, <=, 12);
        g_assert_cmpfloat(lower, <, found.nsec);
        ald_placement_star_solution_clear(&found);
}

/* Even with counted devices alone, of which none can take the place of another: the faster, the less room. */
static void test_too_many(void)
{
        enum { N = 700, LAYERS = 1024 };
        g_autofree AldPlacementDevice *devices = g_new0(AldPlacementDevice, N);
        g_autofree AldPlacementRoleCost *role_costs = g_new(AldPlacementRoleCost, N * ALD_PLACEMENT_N_ROLES);
        const AldPlacementProblem problem = {
                .layers = LAYERS, .n_devices = N, .devices = devices, .devices_max = 15
        };
        AldPlacementStarSolution found;
        uint64_t work = 0;
        double lower;

        for (uint32_t i = 0; i < N; i++) {
                devices[i].layer_nsec = 1 + i;
                for (uint32_t j = 0; j < ALD_PLACEMENT_N_ROLES; j++)
                        role_costs[i * ALD_PLACEMENT_N_ROLES + j] = (AldPlacementRoleCost){ .use_nsec = 1,
                                .layers_max = 1 + i };
        }
        g_assert_cmpint(
                ald_placement_solve_star(&problem, role_costs, INFINITY, &work, &found, &lower), ==, -E2BIG);
        g_assert_true(isfinite(lower));
        g_assert_cmpuint(work, <, 10000000);
}

/* Of equal boxes, no more are looked at than may be used. */
static void test_boxes(void)
{
        enum { BOXES = 1000, N = 2 * BOXES, LAYERS = 80 };
        g_autofree AldPlacementDevice *devices = g_new0(AldPlacementDevice, N);
        g_autofree AldPlacementRoleCost *role_costs = g_new(AldPlacementRoleCost, N * ALD_PLACEMENT_N_ROLES);
        g_autofree uint32_t *nodes = g_new(uint32_t, N);
        const AldPlacementProblem problem = {
                .layers = LAYERS, .n_devices = N, .devices = devices, .devices_max = 15, .nodes = nodes
        };
        AldPlacementStarSolution found;
        uint64_t work = 0;
        double lower;

        for (uint32_t i = 0; i < N; i++) {
                devices[i] = (AldPlacementDevice){ .layer_nsec = 5 };
                nodes[i] = i / 2;
                for (uint32_t j = 0; j < ALD_PLACEMENT_N_ROLES; j++)
                        role_costs[i * ALD_PLACEMENT_N_ROLES + j] = (AldPlacementRoleCost){ 0, 6, 10, 1 };
        }
        g_assert_cmpint(
                ald_placement_solve_star(&problem, role_costs, INFINITY, &work, &found, &lower), ==, 0);
        /* 14 devices on 7 boxes. */
        g_assert_cmpfloat_with_epsilon(found.nsec, 80 * 5 + 7 * (10 + 1), 1e-6);
        g_assert_cmpfloat(lower, ==, found.nsec);
        ald_placement_star_solution_clear(&found);
}

static void test_nothing(void)
{
        const AldPlacementProblem problem = { .layers = 8 };
        AldPlacementStarSolution found;
        uint64_t work = 0;
        double lower;

        g_assert_cmpint(
                ald_placement_solve_star(&problem, NULL, INFINITY, &work, &found, &lower), ==, -ENOSPC);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/placement-star/is-best", test_is_best);
        g_test_add_func("/placement-star/limits", test_limits);
        g_test_add_func("/placement-star/too-many", test_too_many);
        g_test_add_func("/placement-star/boxes", test_boxes);
        g_test_add_func("/placement-star/nothing", test_nothing);
        return g_test_run();
}
