/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/layers/cuts.h"
#include "placement/plan/cost.h"

#define STEP (1024.0 * 1024)
#define WORK_MAX UINT64_C(5000000) /* cells of all tables together: some 20 ms */

typedef struct Cuts {
        AldPlanStageCut *stages;
        uint32_t n, layers;
        double *bytes;       /* [i]: bytes of the first i layers */
        double *spare;       /* room that each stage must leave free */
        bool *rises;         /* the stages whose spare room is being raised */
        double *nsec, *next; /* [layers]: the least time of these on the stages so far */
        uint32_t *from;      /* [stage][layers]: how many of these are on the stages before it */
        uint32_t *queue;
        uint64_t work;
} Cuts;

static void cuts_clear(Cuts *cuts)
{
        g_free(cuts->bytes);
        g_free(cuts->spare);
        g_free(cuts->rises);
        g_free(cuts->nsec);
        g_free(cuts->next);
        g_free(cuts->from);
        g_free(cuts->queue);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cuts, cuts_clear)

static void cuts_init(Cuts *cuts, const AldPlanRequest *request, AldPlanStageCut *stages, uint32_t n)
{
        uint32_t layers = (uint32_t) request->workload->layers;

        *cuts = (Cuts){ .stages = stages,
                .n = n,
                .layers = layers,
                .bytes = g_new(double, layers + 1),
                .spare = g_new0(double, n),
                .rises = g_new0(bool, n),
                .nsec = g_new(double, layers + 1),
                .next = g_new(double, layers + 1),
                .from = g_new0(uint32_t, (size_t) n * (layers + 1)),
                .queue = g_new(uint32_t, layers + 1) };
        for (uint32_t i = 0; i <= layers; i++)
                cuts->bytes[i] = (double) ald_plan_layers_bytes(request, ALD_PLAN_RUN_FIRST, i);
}

static bool run_fits(const Cuts *cuts, uint32_t stage, uint32_t first, uint32_t end)
{
        return end - first <= cuts->stages[stage].layers_max &&
               cuts->bytes[end] - cuts->bytes[first] <= cuts->stages[stage].room - cuts->spare[stage];
}

/* Fills `next` for one more stage. A first layer that fits with an end also fits with smaller ends, so the
 * best first layer within reach is at the head of a queue, as in a sliding minimum. */
static void add_stage(Cuts *cuts, uint32_t stage)
{
        const double layer_nsec = cuts->stages[stage].layer_nsec, *before = cuts->nsec;
        uint32_t head = 0, tail = 0, *queue = cuts->queue;

        cuts->next[0] = INFINITY;
        for (uint32_t end = 1; end <= cuts->layers; end++) {
                uint32_t last = end - 1;

                while (tail > head && before[queue[tail - 1]] - queue[tail - 1] * layer_nsec >
                                              before[last] - last * layer_nsec)
                        tail--;
                if (before[last] < INFINITY)
                        queue[tail++] = last;
                while (tail > head && !run_fits(cuts, stage, queue[head], end))
                        head++;
                cuts->next[end] = INFINITY;
                if (tail == head)
                        continue;
                cuts->next[end] = before[queue[head]] + (end - queue[head]) * layer_nsec;
                cuts->from[(size_t) stage * (cuts->layers + 1) + end] = queue[head];
        }
}

/* Sets the layers of the stages. Returns their time in all, INFINITY if they do not fit. */
static double cut_layers(Cuts *cuts)
{
        uint32_t end = cuts->layers;
        double nsec = 0;

        cuts->work += (uint64_t) cuts->n * cuts->layers;
        for (uint32_t i = 0; i <= cuts->layers; i++)
                cuts->nsec[i] = i == 0 ? 0 : INFINITY;
        for (uint32_t stage = 0; stage < cuts->n; stage++) {
                double *swap = cuts->nsec;

                add_stage(cuts, stage);
                cuts->nsec = cuts->next;
                cuts->next = swap;
        }
        if (!(cuts->nsec[end] < INFINITY))
                return INFINITY;
        for (uint32_t stage = cuts->n; stage-- > 0;) {
                uint32_t first = cuts->from[(size_t) stage * (cuts->layers + 1) + end];

                cuts->stages[stage].layers = end - first;
                nsec += cuts->stages[stage].layers * cuts->stages[stage].layer_nsec;
                end = first;
        }
        return nsec;
}

static void set_spare(Cuts *cuts, double spare)
{
        for (uint32_t i = 0; i < cuts->n; i++)
                if (cuts->rises[i])
                        cuts->spare[i] = spare;
}

/* Returns the most room that all rising stages can leave free if the layers take no longer than this. */
static double find_spare(Cuts *cuts, double enough_nsec)
{
        double low = 0, high = 1;

        for (uint32_t i = 0; i < cuts->n; i++)
                high = fmax(high, floor(cuts->stages[i].room / STEP) + 1);
        while (high - low > 1) {
                double middle = floor((low + high) / 2);

                set_spare(cuts, middle * STEP);
                if (cut_layers(cuts) <= enough_nsec)
                        low = middle;
                else
                        high = middle;
        }
        return low * STEP;
}

/* Stops raising the stages that cannot leave more room; if each could, but not all together, the last one is
 * stopped. Returns whether any can still rise. */
static bool settle_stages(Cuts *cuts, double spare, double enough_nsec)
{
        uint32_t rising = 0, settled = 0, last = 0;

        for (uint32_t i = 0; i < cuts->n; i++) {
                if (!cuts->rises[i])
                        continue;
                cuts->spare[i] = spare + STEP;
                cuts->rises[i] = cuts->work < WORK_MAX && cut_layers(cuts) <= enough_nsec;
                cuts->spare[i] = spare;
                settled += !cuts->rises[i];
                rising += cuts->rises[i];
                last = cuts->rises[i] ? i : last;
        }
        if (rising > 0 && settled == 0) {
                cuts->rises[last] = false;
                rising--;
        }
        return rising > 0;
}

static bool are_as_fast(const AldPlanStageCut *a, const AldPlanStageCut *b)
{
        return fabs(a->layer_nsec - b->layer_nsec) <= ALD_PLAN_TIE * b->layer_nsec;
}

/* Selects the stages that are as fast as this one. Returns false if it is not the first of several. */
static bool find_equals(Cuts *cuts, uint32_t stage)
{
        uint32_t count = 0;

        for (uint32_t i = 0; i < cuts->n; i++) {
                cuts->rises[i] = are_as_fast(&cuts->stages[i], &cuts->stages[stage]);
                if (cuts->rises[i] && i < stage)
                        return false;
                count += cuts->rises[i];
        }
        return count > 1;
}

static void level_out(Cuts *cuts, double enough_nsec)
{
        for (uint32_t stage = 0; stage < cuts->n; stage++) {
                bool rises = find_equals(cuts, stage);

                while (rises && cuts->work < WORK_MAX) {
                        double spare = find_spare(cuts, enough_nsec);

                        set_spare(cuts, spare);
                        rises = settle_stages(cuts, spare, enough_nsec);
                }
        }
        (void) cut_layers(cuts);
}

bool ald_plan_cut(const AldPlanRequest *request, AldPlanStageCut *stages, uint32_t n, bool level)
{
        g_auto(Cuts) cuts = { 0 };
        double nsec;

        cuts_init(&cuts, request, stages, n);
        nsec = cut_layers(&cuts);
        if (isinf(nsec))
                return false;
        if (level)
                level_out(&cuts, nsec * (1 + ALD_PLAN_TIE));
        return true;
}
