/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long it takes to place a model, and how close the result is proven to be to the best: exactly on 16 and
 * 20 nodes and on 8 hosts with 8 GPUs each, and within bounds on 1000 nodes of four kinds of networks; plans
 * of 1000 nodes that know 16 others each, with all explanations, also with what is assumed of all other
 * paths. */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "placement/ring.h"
#include "placement/search/plan-make.h"
#include "placement/solve.h"
#include "tests/unit/placement/plan-clusters.h"
#include "tests/unit/placement/solution-cost.h"

#define ROUNDS_MAX 5u

typedef struct Outcome {
        double ms, gap_percent, hops_percent;
} Outcome;

static double processor_ms(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
        double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

static double median(double *figures, uint32_t n)
{
        qsort(figures, n, sizeof figures[0], compare);
        return figures[n / 2];
}

static Outcome solve(PlacementClusterShape shape, uint32_t n, uint32_t seed, bool with_ends)
{
        g_auto(PlacementCluster) cluster = { 0 };
        AldPlacementSolution solution;
        Outcome outcome;
        double lower;

        placement_cluster_make(&cluster, shape, n, seed);
        cluster.problem.ends = with_ends ? cluster.ends : NULL;
        outcome.ms = processor_ms();
        if (n <= ALD_PLACEMENT_RING_MAX) {
                if (ald_placement_solve_ring(&cluster.problem, &solution) < 0)
                        g_error("A cluster of the benchmark has no solution");
                lower = solution.nsec;
        } else if (ald_placement_solve(&cluster.problem, &solution, &lower) < 0) {
                g_error("A cluster of the benchmark has no solution");
        }
        outcome.ms = processor_ms() - outcome.ms;
        outcome.gap_percent = 100 * (solution.nsec - lower) / lower;
        outcome.hops_percent = placement_hops_percent(&cluster.problem, &solution);
        ald_placement_solution_clear(&solution);
        return outcome;
}

static double median_ms(PlacementClusterShape shape, uint32_t n, uint32_t rounds, bool with_ends)
{
        double ms[ROUNDS_MAX];

        for (uint32_t i = 0; i < rounds; i++)
                ms[i] = solve(shape, n, i, with_ends).ms;
        return median(ms, rounds);
}

/* With all explanations: the most that any takes. */
static double plan_ms(const char *engine, uint32_t plans, bool assumed)
{
        double most = 0;

        for (uint32_t i = 0; i < plans; i++) {
                g_auto(PlannedCluster) planned = { 0 };
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal;
                double ms;

                planned_cluster_make(&planned, PLACEMENT_CLUSTER_SPARSE, 1000, i, engine);
                if (assumed) {
                        planned.request.assumed_rtt_nsec = 1e6;
                        planned.request.assumed_bits_per_second = 1e9;
                }
                ms = processor_ms();
                /* As many devices as llama.cpp takes may be too few where paths are sparse; that is an
                 * answer, too. */
                if (ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal) < 0 &&
                        refusal.kind != ALD_PLAN_DEVICES_LIMITED)
                        g_error("A cluster of the benchmark has no plan");
                most = fmax(most, processor_ms() - ms);
        }
        return most;
}

int main(int argc, char *argv[])
{
        static const PlacementClusterShape shapes[] = { PLACEMENT_CLUSTER_RACKS, PLACEMENT_CLUSTER_FLAT,
                PLACEMENT_CLUSTER_WIFI, PLACEMENT_CLUSTER_SPARSE };
        uint32_t clusters = argc == 2 ? (uint32_t) atoi(argv[1]) : 0, rounds = MIN(clusters, ROUNDS_MAX);
        g_autofree double *ms = g_new(double, clusters), *gaps = g_new(double, clusters);
        double gpus64_gap = 0;
        uint32_t proven = 0, with_hops = 0;

        if (clusters == 0)
                g_error("Needs a number of clusters");
        printf("{\"plan_ring1000_ms_most\": %.0f, ", plan_ms("vllm", rounds, false));
        printf("\"plan_star1000_ms_most\": %.0f, ", plan_ms("llama.cpp", rounds, false));
        printf("\"plan_assumed1000_ms_most\": %.0f, ", plan_ms("llama.cpp", rounds, true));
        printf("\"exact16_ms\": %.1f, ", median_ms(PLACEMENT_CLUSTER_WIFI, 16, rounds, false));
        printf("\"exact20_ms\": %.1f, ", median_ms(PLACEMENT_CLUSTER_WIFI, 20, rounds, false));
        printf("\"head16_ms\": %.1f, ", median_ms(PLACEMENT_CLUSTER_WIFI, 16, rounds, true));
        printf("\"gpus64_ms\": %.1f, ", median_ms(PLACEMENT_CLUSTER_HOSTS, 64, rounds, false));
        for (uint32_t i = 0; i < rounds; i++)
                gpus64_gap = fmax(gpus64_gap, solve(PLACEMENT_CLUSTER_HOSTS, 64, i, false).gap_percent);
        for (uint32_t i = 0; i < clusters; i++) {
                Outcome outcome = solve(shapes[i % G_N_ELEMENTS(shapes)], 1000, i, false);

                ms[i] = outcome.ms;
                gaps[i] = outcome.gap_percent;
                proven += outcome.gap_percent <= 0;
                with_hops += outcome.hops_percent >= 20;
        }
        printf("\"gpus64_gap_percent\": %.2f, ", gpus64_gap);
        printf("\"n1000_ms\": %.0f, \"n1000_gap_percent\": %.3f, ", median(ms, clusters),
                median(gaps, clusters));
        printf("\"n1000_ms_most\": %.0f, \"n1000_gap_percent_of_90\": %.2f, \"n1000_gap_percent_most\": "
               "%.2f, ",
                ms[clusters - 1], gaps[clusters * 9 / 10], gaps[clusters - 1]);
        printf("\"n1000_optimal\": %u, \"n1000_hops_take_a_fifth\": %u}\n", proven, with_hops);
        return 0;
}
