/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/even.h"
#include "placement/gather.h"
#include "placement/insertion.h"
#include "placement/nodes-limit.h"
#include "placement/ring-front.h"
#include "placement/ring.h"

#define DEVICES_MAX 6u
#define LAYERS_MAX 9u
/* Sanitizers, which are many times as slow, see the same code in fewer. */
#ifdef WITH_SANITIZER
#define CASES 600
#else
#define CASES 1200
#endif

typedef struct Case {
        AldPlacementDevice devices[DEVICES_MAX];
        double hop[DEVICES_MAX * DEVICES_MAX], occupy[DEVICES_MAX * DEVICES_MAX];
        double closing[DEVICES_MAX * DEVICES_MAX], closing_occupy[DEVICES_MAX * DEVICES_MAX];
        AldPlacementEnds ends[DEVICES_MAX];
        uint32_t nodes[DEVICES_MAX];
        AldPlacementProblem problem;
} Case;

static void make_case(Case *made)
{
        uint32_t n = (uint32_t) g_test_rand_int_range(1, DEVICES_MAX + 1);

        for (uint32_t i = 0; i < n; i++) {
                made->devices[i] = (AldPlacementDevice){ g_test_rand_double_range(1, 10),
                        (uint32_t) g_test_rand_int_range(0, LAYERS_MAX), g_test_rand_int_range(0, 8) == 0 };
                for (uint32_t j = 0; j < n; j++)
                        made->occupy[i * n + j] = g_test_rand_double_range(0, 40);
                for (uint32_t j = 0; j < n; j++)
                        made->hop[i * n + j] = g_test_rand_int_range(0, 5) == 0
                                                       ? INFINITY
                                                       : g_test_rand_double_range(0, 12);
        }
        made->problem = (AldPlacementProblem){ .layers = (uint32_t) g_test_rand_int_range(1, LAYERS_MAX),
                .n_devices = n,
                .devices = made->devices,
                .hop_nsec = made->hop,
                .devices_max = (uint32_t) g_test_rand_int_range(0, (int) n + 1) };
}

static void add_ends(Case *made)
{
        for (uint32_t i = 0; i < made->problem.n_devices; i++)
                made->ends[i] = (AldPlacementEnds){ g_test_rand_double_range(0, 20),
                        g_test_rand_double_range(0, 20), (uint32_t) g_test_rand_int_range(0, LAYERS_MAX),
                        (uint32_t) g_test_rand_int_range(0, LAYERS_MAX),
                        (uint32_t) g_test_rand_int_range(0, LAYERS_MAX) };
        made->problem.ends = made->ends;
}

/* The hop back to the first stage takes less than others or more, and may lack a path that they have. */
static void add_closing(Case *made)
{
        uint32_t n = made->problem.n_devices;

        for (uint32_t i = 0; i < n * n; i++) {
                made->closing[i] = g_test_rand_int_range(0, 5) == 0 ? INFINITY
                                                                    : g_test_rand_double_range(0, 12);
                made->closing_occupy[i] = g_test_rand_double_range(0, 40);
        }
        made->problem.closing_nsec = made->closing;
        made->problem.closing_occupy_nsec = g_test_rand_bit() ? made->closing_occupy : NULL;
}

/* Of two devices in the mean, which follow each other. */
static void gather(Case *made)
{
        for (uint32_t i = 0; i < made->problem.n_devices; i++)
                made->nodes[i] = (uint32_t) g_test_rand_int_range(0, DEVICES_MAX / 2);
        made->problem.nodes = made->nodes;
        made->problem.nodes_together = true;
}

/* The devices of a node are alike: as they are by one choice, and with hops as between their nodes by
 * another. */
static void make_nodes_alike(Case *made, bool at_all)
{
        uint32_t n = made->problem.n_devices;

        for (uint32_t i = 0; at_all && i < n; i++) {
                uint32_t first = 0;

                while (made->nodes[first] != made->nodes[i])
                        first++;
                made->devices[i].layer_nsec = made->devices[first].layer_nsec;
                made->devices[i].layers_max = made->devices[first].layers_max;
                made->ends[i] = made->ends[first];
        }
        for (uint32_t i = 0; i < n * n; i++) {
                uint32_t from = 0, to = 0;

                while (made->nodes[from] != made->nodes[i / n])
                        from++;
                while (made->nodes[to] != made->nodes[i % n])
                        to++;
                made->hop[i] = from == to ? 1 : made->hop[from * n + to];
                made->closing[i] = from == to ? 1 : made->closing[from * n + to];
        }
}

/* Every order of every choice of devices with every split. */

typedef struct Search {
        const Case *of;
        bool unjoined; /* without hops, to know whether the layers fit at all */
        AldPlacementStage stages[DEVICES_MAX];
        uint32_t n;
        double best;
        double least_busiest, limit; /* of rings: found, and not to be exceeded */
} Search;

static double cost(const Case *of, const AldPlacementStage *stages, uint32_t n)
{
        const AldPlacementProblem *problem = &of->problem;
        double nsec = 0;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t at = stages[i].device, to = stages[(i + 1) % n].device;
                bool is_back = i + 1 == n && problem->ends && problem->closing_nsec;

                nsec += stages[i].layers * problem->devices[at].layer_nsec;
                if (n > 1)
                        nsec += (is_back ? problem->closing_nsec
                                         : problem->hop_nsec)[at * problem->n_devices + to];
        }
        if (problem->ends)
                nsec += problem->ends[stages[0].device].first_nsec +
                        problem->ends[stages[n - 1].device].last_nsec;
        return nsec;
}

static uint32_t room(
        const AldPlacementProblem *problem, const AldPlacementStage *stages, uint32_t n, uint32_t i)
{
        const AldPlacementEnds *ends = problem->ends ? &problem->ends[stages[i].device] : NULL;
        uint32_t most = problem->devices[stages[i].device].layers_max;

        if (!ends || (i > 0 && i + 1 < n))
                return most;
        return MIN(most, n == 1   ? ends->layers_max_both
                         : i == 0 ? ends->layers_max_first
                                  : ends->layers_max_last);
}

static bool has(const AldPlacementStage *stages, uint32_t n, uint32_t device)
{
        for (uint32_t i = 0; i < n; i++)
                if (stages[i].device == device)
                        return true;
        return false;
}

static bool is_together(const AldPlacementProblem *problem, const AldPlacementStage *stages, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = i + 2; j < n; j++)
                        if (problem->nodes[stages[i].device] == problem->nodes[stages[j].device] &&
                                problem->nodes[stages[i].device] != problem->nodes[stages[j - 1].device])
                                return false;
        return true;
}

static bool is_even(const AldPlacementProblem *problem, const AldPlacementStage *stages, uint32_t n)
{
        uint32_t on_node[DEVICES_MAX] = { 0 };

        for (uint32_t i = 0; i < n; i++)
                on_node[problem->nodes[stages[i].device]]++;
        for (uint32_t i = 0; i < n; i++)
                if (on_node[problem->nodes[stages[i].device]] != on_node[problem->nodes[stages[0].device]])
                        return false;
        return true;
}

static bool is_allowed(const Case *of, const AldPlacementStage *stages, uint32_t n)
{
        const AldPlacementProblem *problem = &of->problem;
        uint32_t layers = 0;

        if (problem->nodes_even && !is_even(problem, stages, n))
                return false;
        if (problem->nodes_together && !is_together(problem, stages, n))
                return false;
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (problem->devices[i].required && !has(stages, n, i))
                        return false;
        for (uint32_t i = 0; i < n; i++) {
                layers += stages[i].layers;
                if (stages[i].layers == 0 || has(stages, i, stages[i].device) ||
                        stages[i].layers > room(problem, stages, n, i))
                        return false;
        }
        return layers == problem->layers && (problem->devices_max == 0 || n <= problem->devices_max);
}

/* A ring whose paths all exist and whose busiest part keeps within the limit. */
static bool is_within(Search *self)
{
        const AldPlacementSolution all = { .stages = self->stages, .n_stages = self->n };
        const AldPlacementProblem *problem = &self->of->problem;
        double busiest;

        if (self->unjoined)
                return true;
        if (isinf(cost(self->of, self->stages, self->n)))
                return false;
        busiest = ald_placement_busiest(problem, self->of->occupy, &all);
        self->least_busiest = MIN(self->least_busiest, busiest);
        return busiest <= self->limit;
}

static void search(Search *self, uint32_t left)
{
        const AldPlacementProblem *problem = &self->of->problem;

        if (left == 0 && is_allowed(self->of, self->stages, self->n) && is_within(self))
                self->best = MIN(self->best, self->unjoined ? 0 : cost(self->of, self->stages, self->n));
        for (uint32_t i = 0; left > 0 && i < problem->n_devices; i++) {
                if (has(self->stages, self->n, i))
                        continue;
                self->n++;
                for (uint32_t layers = 1; layers <= MIN(left, problem->devices[i].layers_max); layers++) {
                        self->stages[self->n - 1] = (AldPlacementStage){ i, layers };
                        search(self, left - layers);
                }
                self->n--;
        }
}

static void check(const Case *made, int r, AldPlacementSolution *found)
{
        Search all = { .of = made, .best = INFINITY, .limit = INFINITY };
        Case anywhere = *made;
        Search unjoined = { .of = &anywhere, .unjoined = true, .best = INFINITY };

        anywhere.problem.nodes_together = false;
        search(&all, made->problem.layers);
        if (isinf(all.best)) {
                search(&unjoined, made->problem.layers);
                g_assert_cmpint(r, ==, isinf(unjoined.best) ? -ENOSPC : -EHOSTUNREACH);
                return;
        }
        g_assert_cmpint(r, ==, 0);
        g_assert_true(is_allowed(made, found->stages, found->n_stages));
        g_assert_cmpfloat_with_epsilon(found->nsec, all.best, 1e-9);
        g_assert_cmpfloat_with_epsilon(cost(made, found->stages, found->n_stages), all.best, 1e-9);
        ald_placement_solution_clear(found);
}

/* Every split over these devices, in this order; how many there are, joined by paths or not. */
static uint32_t search_splits(Search *self, AldPlacementStage *stages, uint32_t at, uint32_t left)
{
        const AldPlacementProblem *problem = &self->of->problem;
        uint32_t count = 0;

        if (at == problem->n_devices) {
                if (left > 0 || !is_allowed(self->of, stages, at))
                        return 0;
                self->best = MIN(self->best, cost(self->of, stages, at));
                return 1;
        }
        for (uint32_t n = 1; n <= left; n++) {
                stages[at].layers = n;
                count += search_splits(self, stages, at + 1, left - n);
        }
        return count;
}

static void test_ring_is_best(void)
{
        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution found = { 0 };
                Case made;

                make_case(&made);
                check(&made, ald_placement_solve_ring(&made.problem, &found), &found);
        }
}

static void test_ring_with_ends_is_best(void)
{
        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution found = { 0 };
                Case made;

                make_case(&made);
                add_ends(&made);
                check(&made, ald_placement_solve_ring(&made.problem, &found), &found);
        }
}

/* Without ends, what the way back takes is not read. */
static void test_ring_with_closing_hop_is_best(void)
{
        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution found = { 0 };
                Case made;

                make_case(&made);
                if (i % 4)
                        add_ends(&made);
                add_closing(&made);
                if (i % 4 >= 2)
                        gather(&made);
                made.problem.nodes_even = i % 4 == 3;
                check(&made, ald_placement_solve_ring(&made.problem, &found), &found);
        }
}

static void test_ring_with_nodes_together_is_best(void)
{
        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution found = { 0 };
                Case made;

                make_case(&made);
                add_ends(&made);
                gather(&made);
                check(&made, ald_placement_solve_ring(&made.problem, &found), &found);
        }
}

static void test_ring_with_even_nodes_is_best(void)
{
        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution found = { 0 };
                Case made;

                make_case(&made);
                if (i % 2)
                        add_ends(&made);
                gather(&made);
                made.problem.nodes_together = made.problem.ends;
                made.problem.nodes_even = true;
                check(&made, ald_placement_solve_ring(&made.problem, &found), &found);
        }
}

static int solve_as_stages(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        int r = ald_placement_solve_ring(problem, ret);

        g_assert_false(problem->nodes_even);
        *ret_lower_nsec = r < 0 ? INFINITY : ret->nsec;
        return r;
}

/* Nodes as stages: the bound is one, and is the best where the devices of each node are alike. */
static void test_even(void)
{
        unsigned n_best = 0, n_found = 0;

        for (int i = 0; i < CASES; i++) {
                bool are_alike = i % 2;
                AldPlacementSolution best, found;
                double lower = 0;
                Case made;
                int r;

                make_case(&made);
                add_ends(&made);
                if (i % 4 >= 2)
                        add_closing(&made);
                gather(&made);
                make_nodes_alike(&made, are_alike);
                made.problem.nodes_even = true;
                r = ald_placement_solve_ring(&made.problem, &best);
                if (r < 0) {
                        g_assert_cmpint(
                                ald_placement_solve_even(&made.problem, solve_as_stages, &found, &lower), <,
                                0);
                        continue;
                }
                r = ald_placement_solve_even(&made.problem, solve_as_stages, &found, &lower);
                if (are_alike)
                        g_assert_cmpint(r, ==, 0);
                if (r == 0) {
                        g_assert_true(is_allowed(&made, found.stages, found.n_stages));
                        g_assert_cmpfloat_with_epsilon(
                                cost(&made, found.stages, found.n_stages), found.nsec, 1e-9);
                        g_assert_cmpfloat(lower, <=, best.nsec + 1e-9);
                        g_assert_cmpfloat(found.nsec, >=, best.nsec - 1e-9);
                        if (are_alike)
                                g_assert_cmpfloat(found.nsec, ==, lower);
                        n_best += found.nsec <= best.nsec + 1e-9;
                        n_found++;
                        ald_placement_solution_clear(&found);
                }
                ald_placement_solution_clear(&best);
        }
        g_test_message("%u of %u", n_best, n_found);
        g_assert_cmpuint(n_best, >, n_found * 4 / 5);
}

/* Of stages in any order: those of a node follow each other afterwards, in no more time than is stated. */
static void test_gather(void)
{
        int moved = 0;

        for (int i = 0; i < CASES; i++) {
                AldPlacementSolution best, found;
                Case made, anywhere;

                make_case(&made);
                add_ends(&made);
                if (i % 2)
                        add_closing(&made);
                anywhere = made;
                gather(&made);
                if (ald_placement_solve_ring(&anywhere.problem, &found) < 0)
                        continue;
                if (ald_placement_solve_ring(&made.problem, &best) < 0) {
                        g_assert_false(ald_placement_gather(&made.problem, &found));
                        g_assert_false(is_together(&made.problem, found.stages, found.n_stages));
                        g_assert_true(is_allowed(&anywhere, found.stages, found.n_stages));
                        ald_placement_solution_clear(&found);
                        continue;
                }
                moved += !is_together(&made.problem, found.stages, found.n_stages);
                if (ald_placement_gather(&made.problem, &found)) {
                        g_assert_true(is_allowed(&made, found.stages, found.n_stages));
                        g_assert_cmpfloat_with_epsilon(
                                cost(&made, found.stages, found.n_stages), found.nsec, 1e-9);
                        g_assert_cmpfloat(found.nsec, >=, best.nsec - 1e-9);
                }
                ald_placement_solution_clear(&found);
                ald_placement_solution_clear(&best);
        }
        g_assert_cmpint(moved, >, CASES / 200);
}

/* What the busiest part takes is the least, and with that the time of a step. */
static void test_busiest_is_least(void)
{
        for (int i = 0; i < CASES; i++) {
                Search any = { .best = INFINITY, .limit = INFINITY, .least_busiest = INFINITY }, within;
                AldPlacementSolution found;
                Case made;
                int r;

                make_case(&made);
                if (i % 2)
                        add_ends(&made);
                if (i % 4 >= 2)
                        add_closing(&made);
                any.of = &made;
                search(&any, made.problem.layers);
                r = ald_placement_solve_ring_busiest(&made.problem, made.occupy, &found);
                if (isinf(any.best)) {
                        g_assert_cmpint(r, <, 0);
                        continue;
                }
                g_assert_cmpint(r, ==, 0);
                within = (Search){ .of = &made, .best = INFINITY, .limit = any.least_busiest };
                search(&within, made.problem.layers);
                g_assert_true(is_allowed(&made, found.stages, found.n_stages));
                g_assert_cmpfloat(
                        ald_placement_busiest(&made.problem, made.occupy, &found), ==, any.least_busiest);
                g_assert_cmpfloat_with_epsilon(found.nsec, within.best, 1e-9);
                ald_placement_solution_clear(&found);
        }
}

static int solve_any_nodes(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        int r = ald_placement_solve_ring(problem, ret);

        g_assert_cmpuint(problem->nodes_max, ==, 0);
        *ret_lower_nsec = r < 0 ? 0 : ret->nsec;
        return r;
}

/* Where the exact way is not possible: within the limits, and the bound is one. */
static void test_nodes(void)
{
        unsigned n_best = 0, n_found = 0;

        for (int i = 0; i < CASES / 4; i++) {
                uint32_t nodes[DEVICES_MAX];
                AldPlacementSolution best, found;
                double lower;
                Case made;
                int r;

                make_case(&made);
                if (i % 2) {
                        add_ends(&made);
                        add_closing(&made);
                }
                for (uint32_t j = 0; j < made.problem.n_devices; j++)
                        nodes[j] = (uint32_t) g_test_rand_int_range(0, 3);
                made.problem.nodes = nodes;
                made.problem.nodes_max = (uint32_t) g_test_rand_int_range(1, 3);
                if (ald_placement_solve_ring(&made.problem, &best) < 0) {
                        g_assert_cmpint(
                                ald_placement_solve_nodes(&made.problem, solve_any_nodes, &found, &lower), <,
                                0);
                        continue;
                }
                r = ald_placement_solve_nodes(&made.problem, solve_any_nodes, &found, &lower);
                /* Each node is tried alone. */
                if (made.problem.nodes_max == 1) {
                        g_assert_cmpint(r, ==, 0);
                        g_assert_cmpfloat_with_epsilon(found.nsec, best.nsec, 1e-9);
                }
                if (r >= 0) {
                        uint32_t used = 0;

                        for (uint32_t j = 0; j < found.n_stages; j++)
                                used |= 1u << nodes[found.stages[j].device];
                        g_assert_cmpint(__builtin_popcount(used), <=, (int) made.problem.nodes_max);
                        g_assert_true(is_allowed(&made, found.stages, found.n_stages));
                        g_assert_cmpfloat_with_epsilon(
                                cost(&made, found.stages, found.n_stages), found.nsec, 1e-9);
                        g_assert_cmpfloat(found.nsec, >=, best.nsec - 1e-9);
                        g_assert_cmpfloat(lower, <=, best.nsec + 1e-9);
                        n_best += found.nsec <= best.nsec + 1e-9;
                        n_found++;
                        ald_placement_solution_clear(&found);
                }
                ald_placement_solution_clear(&best);
        }
        g_assert_cmpuint(n_best, >, n_found * 3 / 4);
}

static bool are_together(const AldPlacementProblem *problem, const uint32_t *order, uint32_t n)
{
        AldPlacementStage stages[DEVICES_MAX];

        for (uint32_t i = 0; i < n; i++)
                stages[i] = (AldPlacementStage){ .device = order[i] };
        return is_together(problem, stages, n);
}

/* The best of all places for the last device among the others in their order. */
static void test_insertion_is_best(void)
{
        for (int i = 0; i < CASES / 4; i++) {
                uint32_t order[DEVICES_MAX], n, most = 0;
                Search all = { .best = INFINITY, .limit = INFINITY }, any = all;
                AldPlacementSolution found;
                Case made, anywhere;
                int r;

                make_case(&made);
                if (i % 2)
                        add_ends(&made);
                if (i % 16 >= 8)
                        add_closing(&made);
                if (i % 4 >= 2) {
                        gather(&made);
                        made.problem.nodes_together = i % 4 == 3;
                        made.problem.nodes_even = i % 8 >= 6;
                }
                n = made.problem.n_devices - 1;
                if (n == 0)
                        continue;
                for (uint32_t j = 0; j < n; j++)
                        order[j] = n - 1 - j;
                if (made.problem.nodes_together && !are_together(&made.problem, order, n))
                        continue;
                /* That the layers fit is said of any place. */
                anywhere = made;
                anywhere.problem.nodes_together = false;
                all.of = &made;
                any.of = &anywhere;
                for (uint32_t at = 0; at <= n; at++) {
                        AldPlacementStage stages[DEVICES_MAX];

                        for (uint32_t j = 0; j <= n; j++)
                                stages[j].device = j == at ? n : order[j - (j > at)];
                        search_splits(&all, stages, 0, made.problem.layers);
                        most += search_splits(&any, stages, 0, made.problem.layers);
                }
                r = ald_placement_insert(&made.problem, order, n, n, &found);
                g_assert_cmpint(r, ==, !isinf(all.best) ? 0 : most > 0 ? -EHOSTUNREACH : -ENOSPC);
                if (r < 0)
                        continue;
                g_assert_true(is_allowed(&made, found.stages, found.n_stages));
                g_assert_cmpfloat_with_epsilon(found.nsec, all.best, 1e-9);
                g_assert_cmpfloat_with_epsilon(cost(&made, found.stages, found.n_stages), all.best, 1e-9);
                ald_placement_solution_clear(&found);
        }
}

/* The slower device is last, as the head fills the faster one. */
static void test_head_moves(void)
{
        static const AldPlacementDevice devices[] = { { 1, 8, false }, { 2, 8, false } };
        static const AldPlacementEnds ends[] = { { 0, 1, 8, 4, 4 }, { 0, 1, 8, 8, 8 } };
        double hop[] = { 0, 1, 1, 0 };
        AldPlacementProblem problem = {
                .layers = 8, .n_devices = 2, .devices = devices, .hop_nsec = hop, .ends = ends
        };
        AldPlacementSolution found;

        g_assert_cmpint(ald_placement_solve_ring(&problem, &found), ==, 0);
        g_assert_cmpuint(found.n_stages, ==, 2);
        g_assert_cmpuint(found.stages[1].device, ==, 1);
        g_assert_cmpuint(found.stages[1].layers, ==, 1);
        g_assert_cmpfloat(found.nsec, ==, 12);
        ald_placement_solution_clear(&found);
}

/* The slow path closes the ring once only a token takes it, although the head is slower on the device that is
 * last then. */
static void test_closing_hop_turns_the_ring(void)
{
        static const AldPlacementDevice devices[] = { { 1, 4, false }, { 1, 4, false } };
        static const AldPlacementEnds ends[] = { { 0, 1, 4, 4, 4 }, { 0, 2, 4, 4, 4 } };
        double hop[] = { 0, 1, 9, 0 }, closing[] = { 0, 1, 1, 0 };
        AldPlacementProblem problem = {
                .layers = 8, .n_devices = 2, .devices = devices, .hop_nsec = hop, .ends = ends
        };
        AldPlacementSolution found;

        g_assert_cmpint(ald_placement_solve_ring(&problem, &found), ==, 0);
        g_assert_cmpuint(found.stages[0].device, ==, 1);
        g_assert_cmpfloat(found.nsec, ==, 8 + 1 + 9 + 1);
        ald_placement_solution_clear(&found);
        problem.closing_nsec = closing;
        g_assert_cmpint(ald_placement_solve_ring(&problem, &found), ==, 0);
        g_assert_cmpuint(found.stages[0].device, ==, 0);
        g_assert_cmpfloat(found.nsec, ==, 8 + 2 + 1 + 1);
        ald_placement_solution_clear(&found);
}

/* A device that saves less than its hops cost is left out. */
static void test_slow_link_is_left_out(void)
{
        static const AldPlacementDevice devices[] = { { 10, 8, false }, { 9, 8, false } };
        double hop[] = { 0, 3, 3, 0 };
        AldPlacementProblem problem = { .layers = 8, .n_devices = 2, .devices = devices, .hop_nsec = hop };
        AldPlacementSolution found;

        g_assert_cmpint(ald_placement_solve_ring(&problem, &found), ==, 0);
        g_assert_cmpuint(found.n_stages, ==, 1);
        g_assert_cmpuint(found.stages[0].device, ==, 1);
        g_assert_cmpfloat(found.nsec, ==, 72);
        ald_placement_solution_clear(&found);
}

static void test_nothing_and_too_much(void)
{
        AldPlacementDevice devices[ALD_PLACEMENT_RING_MAX + 1] = { { 1, 1, false } };
        AldPlacementProblem problem = { .layers = 8, .devices = devices };
        AldPlacementSolution found;

        g_assert_cmpint(ald_placement_solve_ring(&problem, &found), ==, -ENOSPC);
        problem.n_devices = ALD_PLACEMENT_RING_MAX + 1;
        g_assert_cmpint(ald_placement_solve_ring(&problem, &found), ==, -E2BIG);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/placement-solvers/ring-is-best", test_ring_is_best);
        g_test_add_func("/placement-solvers/ring-with-ends-is-best", test_ring_with_ends_is_best);
        g_test_add_func(
                "/placement-solvers/ring-with-closing-hop-is-best", test_ring_with_closing_hop_is_best);
        g_test_add_func(
                "/placement-solvers/ring-with-nodes-together-is-best", test_ring_with_nodes_together_is_best);
        g_test_add_func("/placement-solvers/ring-with-even-nodes-is-best", test_ring_with_even_nodes_is_best);
        g_test_add_func("/placement-solvers/even", test_even);
        g_test_add_func("/placement-solvers/gather", test_gather);
        g_test_add_func("/placement-solvers/insertion-is-best", test_insertion_is_best);
        g_test_add_func("/placement-solvers/nodes", test_nodes);
        g_test_add_func("/placement-solvers/head-moves", test_head_moves);
        g_test_add_func("/placement-solvers/closing-hop-turns-the-ring", test_closing_hop_turns_the_ring);
        g_test_add_func("/placement-solvers/busiest-is-least", test_busiest_is_least);
        g_test_add_func("/placement-solvers/slow-link-is-left-out", test_slow_link_is_left_out);
        g_test_add_func("/placement-solvers/nothing-and-too-much", test_nothing_and_too_much);
        return g_test_run();
}
