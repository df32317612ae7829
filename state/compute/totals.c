/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/compute/compute-summary.h"
#include "state/compute/node-power.h"
#include "state/compute/totals.h"

/* Parts of the sums of a node, by the records from which they are computed. */
enum {
        COUNTS = 1 << 0,      /* PRESENCE */
        HOST_MEMORY = 1 << 1, /* MEMORY */
        DEVICES = 1 << 2,     /* their memory, and all power: BACKENDS and SYSTEM */
        MEASURED = 1 << 3,    /* BACKENDS, COMPUTE and DOUBTS */
        ALL_PARTS = COUNTS | HOST_MEMORY | DEVICES | MEASURED,
};

static uint8_t parts_of(AldKind kind)
{
        switch (kind) {
        case ALD_KIND_PRESENCE:
                return COUNTS;
        case ALD_KIND_MEMORY:
                return HOST_MEMORY;
        case ALD_KIND_SYSTEM:
                return DEVICES;
        case ALD_KIND_BACKENDS:
                return DEVICES | MEASURED;
        case ALD_KIND_COMPUTE:
        case ALD_KIND_DOUBTS:
                return MEASURED;
        default:
                return 0;
        }
}

/* Compares the memory in use of the devices, and all power; load and temperature do not enter the totals. */
static bool sums_of_system_differ(const AldSystem *a, const AldSystem *b)
{
        if (a->devices.n != b->devices.n || a->batteries.n != b->batteries.n ||
                a->meter_micro_watts != b->meter_micro_watts || a->power_micro_watts != b->power_micro_watts)
                return true;
        for (size_t i = 0; i < a->devices.n; i++) {
                const AldDevice *before = ald_rows_at(&a->devices, i);
                const AldDevice *after = ald_rows_find(&b->devices, before->id);

                if (!after || before->memory_used_bytes != after->memory_used_bytes ||
                        before->power_micro_watts != after->power_micro_watts)
                        return true;
        }
        for (size_t i = 0; i < a->batteries.n; i++) {
                const AldBattery *before = ald_rows_at(&a->batteries, i);
                const AldBattery *after = ald_rows_at(&b->batteries, i);

                if (before->power_micro_watts != after->power_micro_watts ||
                        g_strcmp0(before->state, after->state) != 0)
                        return true;
        }
        return false;
}

/* Returns whether the change of a record can change a count or sum. */
static bool changes_totals(const AldEntry *entry, const AldRecord *before)
{
        if (!before || !entry->record)
                return true;
        switch (entry->kind) {
        case ALD_KIND_MEMORY: {
                const AldMemory *a = ald_record_as(before, MEMORY, AldMemory);
                const AldMemory *b = ald_record_as(entry->record, MEMORY, AldMemory);

                return a->total_bytes != b->total_bytes || a->available_bytes != b->available_bytes;
        }
        case ALD_KIND_SYSTEM:
                return sums_of_system_differ(ald_record_as(before, SYSTEM, AldSystem),
                        ald_record_as(entry->record, SYSTEM, AldSystem));
        case ALD_KIND_PRESENCE:
                return g_strcmp0(ald_record_as(before, PRESENCE, AldPresence)->state,
                               ald_record_as(entry->record, PRESENCE, AldPresence)->state) != 0;
        case ALD_KIND_BACKENDS:
        case ALD_KIND_COMPUTE:
        case ALD_KIND_DOUBTS:
                return before->hash != entry->record->hash;
        default:
                return false;
        }
}

bool ald_totals_note_change(AldEntry *entry, const AldRecord *before)
{
        if (!changes_totals(entry, before))
                return false;
        entry->node->sums.known &= (uint8_t) ~parts_of(entry->kind);
        return true;
}

/* Returns whether no other row has the same memory: a processor uses that of the host, an instance a part of
 * its parent's. */
static bool has_own_memory(const AldBackend *backend)
{
        return backend->class && !backend->parent &&
               strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) != 0 &&
               backend->memory_total_bytes <= (uint64_t) ALD_INTEGER_MAX;
}

static void sum_device_memory(AldNodeSums *sums, const AldBackends *backends, const AldSystem *system)
{
        sums->device_memory_total_bytes = sums->device_memory_available_bytes = ALD_ABSENT_UINT64;
        sums->device_memory_unread = 0;
        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);
                const AldDevice *device = system ? ald_rows_find(&system->devices, backend->id) : NULL;
                uint64_t used = device ? device->memory_used_bytes : ALD_ABSENT_UINT64;

                if (!has_own_memory(backend))
                        continue;
                ald_sum_add(&sums->device_memory_total_bytes, backend->memory_total_bytes);
                if (used <= backend->memory_total_bytes)
                        ald_sum_add(&sums->device_memory_available_bytes, backend->memory_total_bytes - used);
                else
                        sums->device_memory_unread++;
        }
}

/* Sums the memory. An available amount beyond the total is not plausible and left out. */
static void sum_memory(AldNodeSums *sums, const AldMemory *memory)
{
        sums->memory_total_bytes = sums->memory_available_bytes = ALD_ABSENT_UINT64;
        if (!memory)
                return;
        ald_sum_add(&sums->memory_total_bytes, memory->total_bytes);
        if (memory->total_bytes != ALD_ABSENT_UINT64 && memory->available_bytes <= memory->total_bytes)
                ald_sum_add(&sums->memory_available_bytes, memory->available_bytes);
}

/* Computes the parts of the node's sums that are not known. */
static void sum_node(AldNode *node)
{
        AldNodeSums *sums = &node->sums;
        const AldBackends *backends;

        if (sums->known == ALL_PARTS)
                return;
        backends = ald_node_as(node, BACKENDS, AldBackends);
        if (!(sums->known & COUNTS))
                sums->counts = ald_node_counts(node);
        if (!(sums->known & HOST_MEMORY))
                sum_memory(sums, ald_node_as(node, MEMORY, AldMemory));
        if (!(sums->known & DEVICES)) {
                const AldSystem *system = ald_node_as(node, SYSTEM, AldSystem);

                sum_device_memory(sums, backends, system);
                sums->power_is_of_parts = ald_power_is_of_parts(
                        ald_node_power(backends, system, &sums->power_micro_watts));
        }
        if (!(sums->known & MEASURED))
                ald_compute_summary(backends, ald_node_as(node, COMPUTE, AldCompute),
                        ald_node_as(node, DOUBTS, AldDoubts), &sums->compute);
        sums->known = ALL_PARTS;
}

typedef struct Sums {
        AldTotals totals;
        bool of_gpus, of_processors; /* what the memory bandwidth covers */
} Sums;

static void add_compute(Sums *all, const AldComputeSummary *summary)
{
        AldClusterTotals *figures = &all->totals.figures;

        ald_sum_add_double(&figures->tflops_fp16, summary->tflops_fp16);
        ald_sum_add_double(&figures->tflops_fp32, summary->tflops_fp32);
        figures->tflops_fp32_devices += summary->fp32_devices;
        ald_sum_add(&figures->memory_bandwidth_bytes_per_second, summary->memory_bandwidth_bytes_per_second);
        if (summary->memory_bandwidth_bytes_per_second != ALD_ABSENT_UINT64) {
                all->of_gpus |= summary->of == ALD_COMPUTE_OF_GPUS;
                all->of_processors |= summary->of == ALD_COMPUTE_OF_PROCESSORS;
        }
        for (unsigned reason = 0; reason < ALD_LEFT_OUT_N; reason++) {
                figures->tflops_fp16_left_out += summary->tflops_fp16_left_out[reason];
                figures->memory_bandwidth_left_out += summary->memory_bandwidth_left_out[reason];
                all->totals.tflops_fp16_reasons[reason] += summary->tflops_fp16_left_out[reason];
                all->totals.memory_bandwidth_reasons[reason] += summary->memory_bandwidth_left_out[reason];
        }
}

static gboolean add_sums_of_node(AldNode *node, void *userdata)
{
        Sums *all = userdata;
        AldClusterTotals *figures = &all->totals.figures;
        const AldNodeSums *sums = &node->sums;

        sum_node(node);
        if (!sums->counts) {
                figures->nodes_left_out += node->n_records > 0;
                return FALSE;
        }
        ald_sum_add(&figures->memory_total_bytes, sums->memory_total_bytes);
        ald_sum_add(&figures->memory_available_bytes, sums->memory_available_bytes);
        add_compute(all, &sums->compute);
        ald_sum_add(&figures->device_memory_total_bytes, sums->device_memory_total_bytes);
        ald_sum_add(&figures->device_memory_available_bytes, sums->device_memory_available_bytes);
        figures->device_memory_unread += sums->device_memory_unread;
        ald_sum_add(&figures->power_micro_watts, sums->power_micro_watts);
        figures->nodes_power_unread += sums->power_micro_watts == ALD_ABSENT_UINT64;
        figures->nodes_power_of_parts += sums->power_is_of_parts;
        return FALSE;
}

static const char *bandwidth_scope(const Sums *all)
{
        if (all->of_gpus)
                return all->of_processors ? "both" : "gpu";
        return all->of_processors ? "cpu" : "";
}

void ald_totals_compute(AldStore *store, AldTotals *ret)
{
        Sums all = { .totals.figures = ALD_CLUSTER_TOTALS_INIT };
        AldClusterTotals *figures = &all.totals.figures;

        figures->nodes = ald_store_n_nodes(store);
        figures->links = ald_store_n_links(store);
        figures->hidden = ald_store_n_hidden(store);
        figures->nodes_left_out = figures->device_memory_unread = 0;
        figures->nodes_power_unread = figures->nodes_power_of_parts = 0;
        figures->tflops_fp32_devices = 0;
        figures->tflops_fp16_left_out = figures->memory_bandwidth_left_out = 0;
        ald_store_foreach_node(store, add_sums_of_node, &all);
        figures->memory_bandwidth_of = bandwidth_scope(&all);
        *ret = all.totals;
}
