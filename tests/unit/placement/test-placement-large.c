/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/bounded-front.h"
#include "placement/bounded.h"
#include "placement/groups.h"
#include "placement/layer-table.h"
#include "placement/ring-front.h"
#include "placement/ring-search.h"
#include "placement/ring.h"
#include "placement/solve.h"
#include "tests/unit/placement/clusters.h"
#include "tests/unit/placement/solution-cost.h"

#define SMALL 9u
/* Sanitizers, which are many times as slow, see the same code in fewer. */
#ifdef WITH_SANITIZER
#define CASES 150
#else
#define CASES 3000
#endif
/* A sixth of these searches prove the best ring: of fewer cases, now and then not even a twentieth would. */
#define NARROW_CASES 1000
#define EPSILON 1e-9 /* of sums in another order, of the whole */

typedef struct SmallProblem {
        AldPlacementDevice devices[SMALL];
        AldPlacementEnds ends[SMALL];
        double hop[SMALL * SMALL], closing[SMALL * SMALL];
        AldPlacementProblem problem;
} SmallProblem;

static uint32_t below(uint32_t n)
{
        return (uint32_t) g_test_rand_int_range(0, (gint32) n);
}

/* Hops that nothing relates to each other, some of them absent; any of what a problem may have. */
static void make_small(SmallProblem *made)
{
        uint32_t n = 1 + below(SMALL);
        double slow = g_test_rand_double_range(0, 60);

        for (uint32_t i = 0; i < n; i++) {
                made->devices[i] = (AldPlacementDevice){ g_test_rand_double_range(1, 10), below(9),
                        below(12) == 0 };
                made->ends[i] = (AldPlacementEnds){ g_test_rand_double_range(0, 20),
                        g_test_rand_double_range(0, 20), below(9), below(9), below(9) };
                for (uint32_t j = 0; j < n; j++)
                        made->hop[i * n + j] = below(4) == 0 ? INFINITY : g_test_rand_double_range(0, slow);
                for (uint32_t j = 0; j < n; j++)
                        made->closing[i * n + j] = below(4) == 0 ? INFINITY
                                                                 : g_test_rand_double_range(0, slow);
        }
        made->problem = (AldPlacementProblem){ .layers = 1 + below(20),
                .n_devices = n,
                .devices = made->devices,
                .hop_nsec = made->hop,
                .closing_nsec = below(2) ? made->closing : NULL,
                .devices_max = below(n + 1),
                .ends = below(2) ? made->ends : NULL };
}

static void assert_near(double left, double right)
{
        g_assert_cmpfloat(fabs(left - right), <=, EPSILON * right);
}

/* The exact ring has been compared with every solution elsewhere. */
static void check_against_ring(const AldPlacementProblem *problem)
{
        AldPlacementSolution best = { 0 }, found = { 0 };
        double lower = -1;
        int r = ald_placement_solve_bounded(problem, ALD_PLACEMENT_WORK, &found, &lower);

        g_assert_cmpint(r, ==, ald_placement_solve_ring(problem, &best));
        if (r < 0) {
                g_assert_null(found.stages);
                g_assert_cmpfloat(lower, ==, -1);
                return;
        }
        assert_near(found.nsec, best.nsec);
        assert_near(placement_measure_ring(problem, &found), found.nsec);
        g_assert_cmpfloat(lower, ==, found.nsec);
        ald_placement_solution_clear(&best);
        ald_placement_solution_clear(&found);
}

static void test_bounded_is_best_if_small(void)
{
        for (int i = 0; i < CASES; i++) {
                SmallProblem made;

                make_small(&made);
                check_against_ring(&made.problem);
        }
}

/* Of classes of equal devices: some far from others, some on one switch. */
static void make_classes(SmallProblem *made)
{
        uint32_t n = 2 + below(SMALL - 1), n_classes = 1 + below(4), class_of[SMALL];
        double far[4][4], inner = g_test_rand_double_range(0, 12);

        for (uint32_t i = 0; i < 4; i++)
                for (uint32_t j = 0; j < 4; j++)
                        far[i][j] = i == j           ? inner
                                    : below(12) == 0 ? INFINITY
                                                     : g_test_rand_double_range(8, 16);
        make_small(made);
        made->problem.n_devices = n;
        made->problem.devices_max = below(n + 1);
        made->problem.ends = NULL;
        for (uint32_t i = 0; i < n; i++) {
                class_of[i] = below(n_classes);
                made->devices[i] = (AldPlacementDevice){ 1 + class_of[i] / 2, 1 + 2 * class_of[i],
                        class_of[i] == 3 };
        }
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        made->hop[i * n + j] = far[class_of[i]][class_of[j]];
}

static void test_groups_are_best(void)
{
        int solved = 0;

        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution best = { 0 }, found = { 0 };
                SmallProblem made;
                int r;

                make_classes(&made);
                check_against_ring(&made.problem);
                r = ald_placement_solve_groups(&made.problem, &found);
                if (r == -E2BIG)
                        continue;
                solved++;
                g_assert_cmpint(r, ==, ald_placement_solve_ring(&made.problem, &best));
                if (r < 0)
                        continue;
                assert_near(found.nsec, best.nsec);
                assert_near(placement_measure_ring(&made.problem, &found), found.nsec);
                ald_placement_solution_clear(&best);
                ald_placement_solution_clear(&found);
        }
        g_assert_cmpint(solved, >, CASES / 3);
        g_assert_cmpint(solved, <, CASES);
}

/* Going from host to host is faster than within one, so that one visit each is not best. */
static void test_groups_know_their_limits(void)
{
        static const AldPlacementDevice devices[] = { { 1, 1, false }, { 1, 1, false }, { 2, 1, false },
                { 2, 1, false } };
        static const double hop[] = { 0, 9, 1, 1, 9, 0, 1, 1, 1, 1, 0, 9, 1, 1, 9, 0 };
        AldPlacementProblem problem = { .layers = 4, .n_devices = 4, .devices = devices, .hop_nsec = hop };
        AldPlacementSolution found;
        double lower;

        g_assert_cmpint(ald_placement_solve_groups(&problem, &found), ==, -E2BIG);
        g_assert_cmpint(ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, 0);
        g_assert_cmpfloat(found.nsec, ==, 10);
        g_assert_cmpfloat(lower, ==, 10);
        ald_placement_solution_clear(&found);
}

static void test_hosts_of_gpus_are_solved(void)
{
        for (uint32_t seed = 0; seed < 2; seed++) {
                g_auto(PlacementCluster) cluster = { 0 };
                AldPlacementSolution solved, bounded;
                double lower, bound;

                placement_cluster_make(&cluster, PLACEMENT_CLUSTER_HOSTS, 64, seed);
                g_assert_cmpint(ald_placement_solve(&cluster.problem, &solved, &lower), ==, 0);
                g_assert_cmpint(
                        ald_placement_solve_bounded(&cluster.problem, ALD_PLACEMENT_WORK, &bounded, &bound),
                        ==, 0);
                g_assert_cmpfloat(lower, ==, solved.nsec);
                assert_near(placement_measure_ring(&cluster.problem, &solved), solved.nsec);
                g_assert_cmpfloat(bound, <=, solved.nsec * (1 + EPSILON));
                g_assert_cmpfloat(bounded.nsec, >=, solved.nsec * (1 - EPSILON));
                ald_placement_solution_clear(&solved);
                ald_placement_solution_clear(&bounded);
        }
}

/* What the exact solver finds is between the bounds, which are not far apart. */
static void test_bounds_of_busiest(void)
{
        for (uint32_t seed = 0; seed < 60; seed++) {
                g_auto(PlacementCluster) cluster = { 0 };
                AldPlacementSolution best, found;
                double lower, least, busiest;

                placement_cluster_make(&cluster, seed % 4, 11, seed);
                cluster.problem.ends = seed % 8 < 4 ? cluster.ends : NULL;
                if (ald_placement_solve_ring_busiest(&cluster.problem, cluster.occupy_nsec, &best) < 0)
                        continue;
                g_assert_cmpint(ald_placement_solve_bounded_busiest(
                                        &cluster.problem, cluster.occupy_nsec, &found, &lower),
                        ==, 0);
                least = ald_placement_busiest(&cluster.problem, cluster.occupy_nsec, &best);
                busiest = ald_placement_busiest(&cluster.problem, cluster.occupy_nsec, &found);
                g_assert_cmpfloat(lower, <=, least);
                g_assert_cmpfloat(busiest, >=, least);
                g_assert_cmpfloat(busiest, <=, least * 1.25);
                g_assert_cmpfloat(lower, >=, least * 0.2);
                assert_near(placement_measure_ring(&cluster.problem, &found), found.nsec);
                ald_placement_solution_clear(&best);
                ald_placement_solution_clear(&found);
        }
}

static void test_busiest_has_errors(void)
{
        AldPlacementDevice devices[] = { { 1, 2, false }, { 1, 2, false } };
        double hop[] = { 0, INFINITY, 1, 0 }, occupy[] = { 0, 1, 1, 0 }, lower = -1;
        AldPlacementProblem problem = { .layers = 5, .n_devices = 2, .devices = devices, .hop_nsec = hop };
        AldPlacementSolution found = { 0 };

        g_assert_cmpint(ald_placement_solve_bounded_busiest(&problem, occupy, &found, &lower), ==, -ENOSPC);
        problem.layers = 4;
        g_assert_cmpint(
                ald_placement_solve_bounded_busiest(&problem, occupy, &found, &lower), ==, -EHOSTUNREACH);
        g_assert_cmpfloat(lower, ==, -1);
        hop[1] = 1;
        g_assert_cmpint(ald_placement_solve_bounded_busiest(&problem, occupy, &found, &lower), ==, 0);
        g_assert_cmpuint(found.n_stages, ==, 2);
        g_assert_cmpfloat(lower, ==, 2);
        ald_placement_solution_clear(&found);
}

/* Clusters that the exact ring solves within some milliseconds. */
static void test_bounds_enclose_the_best(void)
{
        for (uint32_t seed = 0; seed < 24; seed++)
                for (int with_ends = 0; with_ends < 2; with_ends++) {
                        g_auto(PlacementCluster) cluster = { 0 };
                        AldPlacementSolution best, found;
                        double lower;

                        placement_cluster_make(&cluster, seed % 4, 12, seed);
                        cluster.problem.ends = with_ends ? cluster.ends : NULL;
                        if (ald_placement_solve_ring(&cluster.problem, &best) < 0)
                                continue;
                        g_assert_cmpint(ald_placement_solve_bounded(
                                                &cluster.problem, ALD_PLACEMENT_WORK, &found, &lower),
                                ==, 0);
                        g_assert_cmpfloat(lower, <=, best.nsec * (1 + EPSILON));
                        g_assert_cmpfloat(found.nsec, >=, best.nsec * (1 - EPSILON));
                        assert_near(placement_measure_ring(&cluster.problem, &found), found.nsec);
                        ald_placement_solution_clear(&best);
                        ald_placement_solution_clear(&found);
                }
}

/* The same problem has the same solution, to the last bit, and bounds that are close. */
static void test_large_is_repeatable(void)
{
        for (uint32_t seed = 1; seed < 4; seed += 2) {
                g_auto(PlacementCluster) cluster = { 0 };
                AldPlacementSolution first, second;
                double first_lower, second_lower;

                placement_cluster_make(&cluster, seed % 4, 100, seed);
                g_assert_cmpint(ald_placement_solve_bounded(
                                        &cluster.problem, ALD_PLACEMENT_WORK, &first, &first_lower),
                        ==, 0);
                g_assert_cmpint(ald_placement_solve_bounded(
                                        &cluster.problem, ALD_PLACEMENT_WORK, &second, &second_lower),
                        ==, 0);
                g_assert_cmpfloat(first_lower, ==, second_lower);
                g_assert_cmpmem(first.stages, first.n_stages * sizeof first.stages[0], second.stages,
                        second.n_stages * sizeof second.stages[0]);
                assert_near(placement_measure_ring(&cluster.problem, &first), first.nsec);
                g_assert_cmpfloat(first_lower, <=, first.nsec);
                g_assert_cmpfloat(first_lower, >, first.nsec * 0.6);
                ald_placement_solution_clear(&first);
                ald_placement_solution_clear(&second);
        }
}

/* Slow paths lead from one device, so that closing a ring there saves much; other hops save less, and what
 * they do is all that bounds are less by. */
static void test_slow_paths_leave_bounds_close(void)
{
        enum { N = 16, SLOW = 3 };

        for (uint32_t seed = 1; seed < 5; seed++) {
                g_auto(PlacementCluster) cluster = { 0 };
                double closing[N * N], slowest = 0, lower;
                AldPlacementSolution found;

                placement_cluster_make(&cluster, seed % 4, N, seed);
                cluster.problem.ends = cluster.ends;
                cluster.problem.closing_nsec = closing;
                for (uint32_t i = 0; i < N * N; i++) {
                        closing[i] = cluster.hop_nsec[i] / 10;
                        if (cluster.hop_nsec[i] < INFINITY)
                                slowest = fmax(slowest, cluster.hop_nsec[i]);
                }
                for (uint32_t j = 0; j < N; j++)
                        if (j != SLOW)
                                cluster.hop_nsec[SLOW * N + j] = 20 * slowest;
                g_assert_cmpint(
                        ald_placement_solve_bounded(&cluster.problem, ALD_PLACEMENT_WORK, &found, &lower), ==,
                        0);
                assert_near(placement_measure_ring(&cluster.problem, &found), found.nsec);
                g_assert_cmpfloat(lower, <=, found.nsec);
                g_assert_cmpfloat(lower, >, found.nsec * 0.9);
                ald_placement_solution_clear(&found);
        }
}

static void test_errors(void)
{
        enum { N = 30 };
        AldPlacementDevice devices[N];
        double hop[N * N], lower = -1;
        AldPlacementProblem problem = {
                .layers = 40, .n_devices = N, .devices = devices, .hop_nsec = hop, .devices_max = 16
        };
        AldPlacementSolution found = { 0 };

        for (uint32_t i = 0; i < N; i++)
                devices[i] = (AldPlacementDevice){ 1, 2, false };
        for (uint32_t i = 0; i < N * N; i++)
                hop[i] = INFINITY;
        g_assert_cmpint(
                ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, -ENOSPC);
        problem.layers = 32;
        g_assert_cmpint(
                ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, -EHOSTUNREACH);
        /* A ring too short for the layers. */
        for (uint32_t i = 0; i < 8; i++)
                hop[i * N + (i + 1) % 8] = 1;
        g_assert_cmpint(
                ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, -EHOSTUNREACH);
        g_assert_null(found.stages);
        g_assert_cmpfloat(lower, ==, -1);
        problem.layers = 16;
        g_assert_cmpint(ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, 0);
        g_assert_cmpfloat(found.nsec, ==, 24);
        g_assert_cmpfloat(lower, ==, 24);
        ald_placement_solution_clear(&found);
        /* One that is required has no room for the fewest layers. */
        problem.layers_min = 2;
        devices[3] = (AldPlacementDevice){ 1, 1, true };
        g_assert_cmpint(
                ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, -ENOSPC);
        problem.n_devices = 0;
        g_assert_cmpint(
                ald_placement_solve_bounded(&problem, ALD_PLACEMENT_WORK, &found, &lower), ==, -ENOSPC);
}

/* How its bound rises once hops are lowered to what closing the ring takes and saved_nsec beyond. */
static void find_limited_bound(
        const AldPlacementProblem *problem, double saved_nsec, double *ret_before, double *ret_after)
{
        g_auto(AldPlacementCore) core = { 0 };
        g_auto(AldPlacementTable) table = { 0 };

        ald_placement_core_init(&core, problem, ALD_PLACEMENT_WORK);
        ald_placement_table_init(&table, &core);
        ald_placement_table_fill(&table, &core, true);
        *ret_before = ald_placement_table_bound(&table, &core);
        ald_placement_core_limit_saved(&core, saved_nsec);
        ald_placement_table_fill(&table, &core, true);
        *ret_after = ald_placement_table_bound(&table, &core);
}

/* No ring of several stages takes less than the bound, however much a hop may save. A single stage is not
 * bounded by it, so none has room for both ends. */
static void test_limit_keeps_bounds(void)
{
        unsigned n_found = 0, n_raised = 0;

        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution best;
                double before, after;
                SmallProblem made;

                make_small(&made);
                made.problem.ends = made.ends;
                made.problem.closing_nsec = made.closing;
                for (uint32_t j = 0; j < made.problem.n_devices; j++)
                        made.ends[j].layers_max_both = 0;
                if (ald_placement_solve_ring(&made.problem, &best) < 0)
                        continue;
                find_limited_bound(
                        &made.problem, below(4) == 0 ? 0 : g_test_rand_double_range(0, 60), &before, &after);
                g_assert_cmpfloat(before, <=, best.nsec * (1 + EPSILON));
                g_assert_cmpfloat(after, <=, best.nsec * (1 + EPSILON));
                n_raised += after > before;
                n_found++;
                ald_placement_solution_clear(&best);
        }
        g_assert_cmpuint(n_found, >, CASES / 5);
        g_assert_cmpuint(n_raised, >, n_found / 5);
}

/* The ring of all three is closed over the slow path between two of them; its other hops would save 2. */
static void test_limit_raises_the_bound(void)
{
        static const AldPlacementDevice devices[] = { { 1, 2, false }, { 1, 2, false }, { 1, 2, false } };
        static const AldPlacementEnds ends[] = { { 0, 0, 2, 2, 2 }, { 0, 0, 2, 2, 2 }, { 0, 0, 2, 2, 2 } };
        static const double hop[] = { 0, 105, 5, 105, 0, 5, 5, 5, 0 },
                            closing[] = { 0, 3, 3, 3, 0, 3, 3, 3, 0 };
        const AldPlacementProblem problem = { .layers = 6,
                .n_devices = 3,
                .devices = devices,
                .hop_nsec = hop,
                .closing_nsec = closing,
                .ends = ends };
        AldPlacementSolution best;
        double before, after;

        g_assert_cmpint(ald_placement_solve_ring(&problem, &best), ==, 0);
        g_assert_cmpfloat(best.nsec, ==, 6 + 5 + 5 + 3);
        ald_placement_solution_clear(&best);
        find_limited_bound(&problem, 2, &before, &after);
        g_assert_cmpfloat(before, ==, 6 + 3 * 5 - 102);
        g_assert_cmpfloat(after, ==, 6 + 3 * 5 - 2);
}

/* However few paths a search keeps, it says no more than it knows of rings, all of which have several stages
 * here. */
static void test_narrow_searches_keep_bounds(void)
{
        unsigned n_found = 0, n_proven = 0, n_left = 0;

        for (int i = 0; i < NARROW_CASES; i++) {
                AldPlacementTour found = { .nsec = INFINITY };
                g_auto(AldPlacementTable) table = { 0 };
                g_auto(AldPlacementCore) core = { 0 };
                AldPlacementSolution best;
                SmallProblem made;
                double left;

                make_small(&made);
                made.problem.layers = SMALL + below(12);
                if (ald_placement_solve_ring(&made.problem, &best) < 0)
                        continue;
                ald_placement_core_init(&core, &made.problem, ALD_PLACEMENT_WORK);
                ald_placement_table_init(&table, &core);
                ald_placement_table_fill(&table, &core, false);
                ald_placement_table_bound_each(&table, &core);
                left = ald_placement_search(&core, &table, 1 + below(4), ALD_PLACEMENT_WORK, &found);
                g_assert_cmpfloat(left, <=, best.nsec * (1 + EPSILON));
                g_assert_cmpfloat(found.nsec, >=, best.nsec * (1 - EPSILON));
                n_proven += left >= best.nsec * (1 - EPSILON);
                n_left += left < best.nsec * (1 - EPSILON);
                n_found++;
                ald_placement_solution_clear(&best);
        }
        g_assert_cmpuint(n_found, >, NARROW_CASES / 5);
        g_assert_cmpuint(n_proven, >, n_found / 20);
        g_assert_cmpuint(n_left, >, n_found / 20);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/placement-large/bounded-is-best-if-small", test_bounded_is_best_if_small);
        g_test_add_func("/placement-large/groups-are-best", test_groups_are_best);
        g_test_add_func("/placement-large/groups-know-their-limits", test_groups_know_their_limits);
        g_test_add_func("/placement-large/hosts-of-gpus-are-solved", test_hosts_of_gpus_are_solved);
        g_test_add_func("/placement-large/bounds-enclose-the-best", test_bounds_enclose_the_best);
        g_test_add_func("/placement-large/bounds-of-busiest", test_bounds_of_busiest);
        g_test_add_func("/placement-large/busiest-has-errors", test_busiest_has_errors);
        g_test_add_func("/placement-large/large-is-repeatable", test_large_is_repeatable);
        g_test_add_func("/placement-large/limit-keeps-bounds", test_limit_keeps_bounds);
        g_test_add_func("/placement-large/limit-raises-the-bound", test_limit_raises_the_bound);
        g_test_add_func("/placement-large/narrow-searches-keep-bounds", test_narrow_searches_keep_bounds);
        g_test_add_func("/placement-large/slow-paths-leave-bounds-close", test_slow_paths_leave_bounds_close);
        g_test_add_func("/placement-large/errors", test_errors);
        return g_test_run();
}
