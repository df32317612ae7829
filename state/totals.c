/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/totals.h"

typedef struct Sums {
        AldTotals totals;
        bool of_gpus, of_processors; /* what the memory bandwidth covers */
} Sums;

static void add_compute(
        Sums *sums, const AldBackends *backends, const AldCompute *compute, const AldDoubts *doubts)
{
        AldClusterTotals *figures = &sums->totals.figures;
        AldComputeSummary summary;

        ald_compute_summary(backends, compute, doubts, &summary);
        ald_sum_add_double(&figures->tflops_fp16, summary.tflops_fp16);
        ald_sum_add_double(&figures->tflops_fp32, summary.tflops_fp32);
        figures->tflops_fp32_devices += summary.fp32_devices;
        ald_sum_add(&figures->memory_bandwidth_bytes_per_second, summary.memory_bandwidth_bytes_per_second);
        if (summary.memory_bandwidth_bytes_per_second != ALD_ABSENT_UINT64) {
                sums->of_gpus |= summary.of == ALD_COMPUTE_OF_GPUS;
                sums->of_processors |= summary.of == ALD_COMPUTE_OF_PROCESSORS;
        }
        for (unsigned reason = 0; reason < ALD_LEFT_OUT_N; reason++) {
                figures->tflops_fp16_left_out += summary.tflops_fp16_left_out[reason];
                figures->memory_bandwidth_left_out += summary.memory_bandwidth_left_out[reason];
                sums->totals.tflops_fp16_reasons[reason] += summary.tflops_fp16_left_out[reason];
                sums->totals.memory_bandwidth_reasons[reason] += summary.memory_bandwidth_left_out[reason];
        }
}

/* Whether no other row has the same memory: a processor uses that of the host, an instance a part of its
 * parent's. */
static bool has_own_memory(const AldBackend *backend)
{
        return backend->class && !backend->parent &&
               strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) != 0 &&
               backend->memory_total_bytes <= (uint64_t) ALD_INTEGER_MAX;
}

static void add_device_memory(AldClusterTotals *figures, const AldBackend *backend, const AldSystem *system)
{
        const AldDevice *device = system ? ald_rows_find(&system->devices, backend->id) : NULL;
        uint64_t used = device ? device->memory_used_bytes : ALD_ABSENT_UINT64;

        if (!has_own_memory(backend))
                return;
        ald_sum_add(&figures->device_memory_total_bytes, backend->memory_total_bytes);
        if (used <= backend->memory_total_bytes)
                ald_sum_add(&figures->device_memory_available_bytes, backend->memory_total_bytes - used);
        else
                figures->device_memory_unread++;
}

/* Limited to the total. */
static void add_memory(AldClusterTotals *figures, const AldMemory *memory)
{
        ald_sum_add(&figures->memory_total_bytes, memory->total_bytes);
        if (memory->total_bytes != ALD_ABSENT_UINT64 && memory->available_bytes <= memory->total_bytes)
                ald_sum_add(&figures->memory_available_bytes, memory->available_bytes);
}

static gboolean add_node(AldNode *node, void *userdata)
{
        Sums *sums = userdata;
        AldClusterTotals *figures = &sums->totals.figures;
        const AldMemory *memory = ald_record_as(ald_node_record(node, ALD_KIND_MEMORY), MEMORY, AldMemory);
        const AldSystem *system = ald_record_as(ald_node_record(node, ALD_KIND_SYSTEM), SYSTEM, AldSystem);
        const AldBackends *backends = ald_record_as(
                ald_node_record(node, ALD_KIND_BACKENDS), BACKENDS, AldBackends);
        const AldCompute *compute = ald_record_as(
                ald_node_record(node, ALD_KIND_COMPUTE), COMPUTE, AldCompute);
        const AldDoubts *doubts = ald_record_as(ald_node_record(node, ALD_KIND_DOUBTS), DOUBTS, AldDoubts);

        if (!ald_node_counts(node)) {
                figures->nodes_left_out += node->n_records > 0;
                return FALSE;
        }
        if (memory)
                add_memory(figures, memory);
        add_compute(sums, backends, compute, doubts);
        for (size_t i = 0; backends && i < backends->devices.n; i++)
                add_device_memory(figures, ald_rows_at(&backends->devices, i), system);
        return FALSE;
}

static const char *name_of(const Sums *sums)
{
        if (sums->of_gpus)
                return sums->of_processors ? "both" : "gpu";
        return sums->of_processors ? "cpu" : "";
}

void ald_totals_compute(AldStore *store, AldTotals *ret)
{
        Sums sums = { .totals.figures = ALD_CLUSTER_TOTALS_INIT };
        AldClusterTotals *figures = &sums.totals.figures;

        figures->nodes = ald_store_n_nodes(store);
        figures->links = ald_store_n_links(store);
        figures->hidden = ald_store_n_hidden(store);
        figures->nodes_left_out = figures->device_memory_unread = 0;
        figures->tflops_fp32_devices = 0;
        figures->tflops_fp16_left_out = figures->memory_bandwidth_left_out = 0;
        ald_store_foreach_node(store, add_node, &sums);
        figures->memory_bandwidth_of = name_of(&sums);
        *ret = sums.totals;
}
