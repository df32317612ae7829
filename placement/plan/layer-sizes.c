/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "placement/plan/layer-sizes.h"

#define BYTES_MAX UINT64_C(1000000000000000)

/* Consecutive layers of equal size, as in "3*421818368+1179648". */
typedef struct Run {
        uint64_t layers, weights, kv;
} Run;

static bool read_number(const char **at, uint64_t most, uint64_t *ret)
{
        char *end = NULL;
        uint64_t value;

        if (!g_ascii_isdigit(**at))
                return false;
        value = g_ascii_strtoull(*at, &end, 10);
        *at = end;
        *ret = value;
        return value <= most;
}

static bool read_sign(const char **at, char sign)
{
        return *(*at)++ == sign;
}

static bool read_run(const char *text, uint64_t layers_max, Run *ret)
{
        return read_number(&text, layers_max, &ret->layers) && ret->layers > 0 && read_sign(&text, '*') &&
               read_number(&text, BYTES_MAX, &ret->weights) && read_sign(&text, '+') &&
               read_number(&text, BYTES_MAX, &ret->kv) && *text == '\0';
}

static void add_run(AldPlanLayerSizes *sizes, const Run *run)
{
        for (uint64_t i = 0; i < run->layers; i++, sizes->n++) {
                sizes->weights[sizes->n + 1] = sizes->weights[sizes->n] + run->weights;
                sizes->kv[sizes->n + 1] = sizes->kv[sizes->n] + run->kv;
                sizes->sums[sizes->n + 1] = sizes->sums[sizes->n] + run->weights + run->kv;
        }
}

static void find_extreme_runs(AldPlanLayerSizes *sizes)
{
        for (uint32_t count = 1; count <= sizes->n; count++) {
                sizes->most[count] = sizes->least[count] = sizes->sums[count];
                for (uint32_t i = 1; i + count <= sizes->n; i++) {
                        uint64_t bytes = sizes->sums[i + count] - sizes->sums[i];

                        sizes->most[count] = MAX(sizes->most[count], bytes);
                        sizes->least[count] = MIN(sizes->least[count], bytes);
                }
        }
}

static const char *read_runs(const AldPlanWorkload *workload, AldPlanLayerSizes *sizes)
{
        for (const char *const *text = workload->layer_sizes; *text; text++) {
                Run run;

                if (!read_run(*text, workload->layers, &run))
                        return "LayerSizes: not of the form LAYERS*BYTES+BYTES";
                if (run.layers > workload->layers - sizes->n)
                        return "LayerSizes has more layers than Layers";
                if (run.weights > workload->layer_bytes)
                        return "LayerSizes: a layer has more than LayerBytes";
                if (run.kv > workload->layer_kv_bytes)
                        return "LayerSizes: a layer has more keys and values than LayerKvBytes";
                add_run(sizes, &run);
        }
        return sizes->n < workload->layers ? "LayerSizes has fewer layers than Layers" : NULL;
}

AldPlanLayerSizes *ald_plan_layer_sizes_new(const AldPlanWorkload *workload, const char **ret_reason)
{
        size_t room = workload->layers + 1;
        g_autofree AldPlanLayerSizes *sizes = g_malloc0(
                sizeof(AldPlanLayerSizes) + 5 * room * sizeof(uint64_t));
        const char *reason;

        sizes->weights = sizes->room;
        sizes->kv = sizes->weights + room;
        sizes->sums = sizes->kv + room;
        sizes->most = sizes->sums + room;
        sizes->least = sizes->most + room;
        reason = read_runs(workload, sizes);
        if (reason) {
                *ret_reason = reason;
                return NULL;
        }
        find_extreme_runs(sizes);
        return g_steal_pointer(&sizes);
}

char **ald_plan_layer_sizes_to_text(const uint64_t *weights, const uint64_t *kv, uint32_t n)
{
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

        for (uint32_t i = 0, end; i < n; i = end) {
                for (end = i + 1; end < n && weights[end] == weights[i] && kv[end] == kv[i]; end++)
                        ;
                if (i == 0 && end == n)
                        return NULL;
                g_ptr_array_add(texts,
                        g_strdup_printf("%" PRIu32 "*%" PRIu64 "+%" PRIu64, end - i, weights[i], kv[i]));
        }
        g_ptr_array_add(texts, NULL);
        return (char **) g_ptr_array_steal(texts, NULL);
}
