/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <string.h>

#include "services/state/paths.h"
#include "services/state/totals-bus.h"

/* Changes of a second are summed up and told together. */
#define REFRESH_SECONDS 1u

/* Free memory changes all the time; by less than this share of the whole it is not worth a signal. */
#define FREE_SHARE 0.005

typedef struct Snapshot {
        uint64_t nodes, links, hidden;
        AldTotals totals;
} Snapshot;

static Snapshot take_snapshot(const AldTotalsBus *self)
{
        return (Snapshot){ self->nodes, self->links, self->hidden, self->totals };
}

static void compute(AldTotalsBus *self)
{
        self->nodes = ald_store_n_nodes(self->store);
        self->links = ald_store_n_links(self->store);
        self->hidden = ald_store_n_hidden(self->store);
        ald_totals_compute(self->store, &self->totals);
}

static bool doubles_differ(double a, double b)
{
        return isnan(a) ? !isnan(b) : a != b;
}

static bool reasons_differ(const uint64_t *a, const uint64_t *b)
{
        return memcmp(a, b, ALD_LEFT_OUT_N * sizeof *a) != 0;
}

/* Against what was last told, so that small steps add up. */
static bool free_differs(uint64_t *told, uint64_t now, uint64_t total)
{
        bool known = *told != ALD_ABSENT_UINT64 && now != ALD_ABSENT_UINT64;
        uint64_t change = known ? MAX(*told, now) - MIN(*told, now) : 0;

        if (known ? (double) change < FREE_SHARE * (double) total : *told == now)
                return false;
        *told = now;
        return true;
}

/* The properties of org.alidade.State1 that change. */
typedef enum Changed {
        CHANGED_NODES,
        CHANGED_LINKS,
        CHANGED_HIDDEN,
        CHANGED_NODES_LEFT_OUT,
        CHANGED_TFLOPS_FP16,
        CHANGED_TFLOPS_FP16_LEFT_OUT,
        CHANGED_TFLOPS_FP16_LEFT_OUT_REASONS,
        CHANGED_MEMORY_BANDWIDTH_BYTES_PER_SECOND,
        CHANGED_MEMORY_BANDWIDTH_OF,
        CHANGED_MEMORY_BANDWIDTH_LEFT_OUT,
        CHANGED_MEMORY_BANDWIDTH_LEFT_OUT_REASONS,
        CHANGED_MEMORY_AVAILABLE_BYTES,
        CHANGED_DEVICE_MEMORY_AVAILABLE_BYTES,
        CHANGED_DEVICE_MEMORY_UNREAD,
        CHANGED_MEMORY_TOTAL_BYTES,
        CHANGED_DEVICE_MEMORY_TOTAL_BYTES,
        CHANGED_N,
} Changed;

static const struct {
        const char *name;
        char type; /* 'r': counts of reasons */
        size_t offset;
} properties[CHANGED_N] = {
        [CHANGED_NODES] = { "Nodes", 't', offsetof(AldTotalsBus, nodes) },
        [CHANGED_LINKS] = { "Links", 't', offsetof(AldTotalsBus, links) },
        [CHANGED_HIDDEN] = { "Hidden", 't', offsetof(AldTotalsBus, hidden) },
        [CHANGED_NODES_LEFT_OUT] = { "NodesLeftOut", 't', offsetof(AldTotalsBus, totals.nodes_left_out) },
        [CHANGED_TFLOPS_FP16] = { "TflopsFp16", 'd', offsetof(AldTotalsBus, totals.tflops_fp16) },
        [CHANGED_TFLOPS_FP16_LEFT_OUT] = { "TflopsFp16LeftOut", 't',
                offsetof(AldTotalsBus, totals.tflops_fp16_left_out) },
        [CHANGED_TFLOPS_FP16_LEFT_OUT_REASONS] = { "TflopsFp16LeftOutReasons", 'r',
                offsetof(AldTotalsBus, totals.tflops_fp16_left_out_reasons) },
        [CHANGED_MEMORY_BANDWIDTH_BYTES_PER_SECOND] = { "MemoryBandwidthBytesPerSecond", 't',
                offsetof(AldTotalsBus, totals.memory_bandwidth_bytes_per_second) },
        [CHANGED_MEMORY_BANDWIDTH_OF] = { "MemoryBandwidthOf", 's',
                offsetof(AldTotalsBus, totals.memory_bandwidth_of) },
        [CHANGED_MEMORY_BANDWIDTH_LEFT_OUT] = { "MemoryBandwidthLeftOut", 't',
                offsetof(AldTotalsBus, totals.memory_bandwidth_left_out) },
        [CHANGED_MEMORY_BANDWIDTH_LEFT_OUT_REASONS] = { "MemoryBandwidthLeftOutReasons", 'r',
                offsetof(AldTotalsBus, totals.memory_bandwidth_left_out_reasons) },
        [CHANGED_MEMORY_AVAILABLE_BYTES] = { "MemoryAvailableBytes", 't',
                offsetof(AldTotalsBus, totals.memory_available_bytes) },
        [CHANGED_DEVICE_MEMORY_AVAILABLE_BYTES] = { "DeviceMemoryAvailableBytes", 't',
                offsetof(AldTotalsBus, totals.device_memory_available_bytes) },
        [CHANGED_DEVICE_MEMORY_UNREAD] = { "DeviceMemoryUnread", 't',
                offsetof(AldTotalsBus, totals.device_memory_unread) },
        [CHANGED_MEMORY_TOTAL_BYTES] = { "MemoryTotalBytes", 't',
                offsetof(AldTotalsBus, totals.memory_total_bytes) },
        [CHANGED_DEVICE_MEMORY_TOTAL_BYTES] = { "DeviceMemoryTotalBytes", 't',
                offsetof(AldTotalsBus, totals.device_memory_total_bytes) },
};
G_STATIC_ASSERT(CHANGED_N <= 32);

/* Those of them that differ. */
static uint32_t find_differences(AldTotalsBus *self, const Snapshot *before)
{
        const AldTotals *a = &before->totals, *b = &self->totals;
        const bool differs[CHANGED_N] = {
                [CHANGED_NODES] = before->nodes != self->nodes,
                [CHANGED_LINKS] = before->links != self->links,
                [CHANGED_HIDDEN] = before->hidden != self->hidden,
                [CHANGED_NODES_LEFT_OUT] = a->nodes_left_out != b->nodes_left_out,
                [CHANGED_TFLOPS_FP16] = doubles_differ(a->tflops_fp16, b->tflops_fp16),
                [CHANGED_TFLOPS_FP16_LEFT_OUT] = a->tflops_fp16_left_out != b->tflops_fp16_left_out,
                [CHANGED_TFLOPS_FP16_LEFT_OUT_REASONS] = reasons_differ(
                        a->tflops_fp16_left_out_reasons, b->tflops_fp16_left_out_reasons),
                [CHANGED_MEMORY_BANDWIDTH_BYTES_PER_SECOND] = a->memory_bandwidth_bytes_per_second !=
                                                              b->memory_bandwidth_bytes_per_second,
                [CHANGED_MEMORY_BANDWIDTH_OF] = g_strcmp0(a->memory_bandwidth_of, b->memory_bandwidth_of) !=
                                                0,
                [CHANGED_MEMORY_BANDWIDTH_LEFT_OUT] = a->memory_bandwidth_left_out !=
                                                      b->memory_bandwidth_left_out,
                [CHANGED_MEMORY_BANDWIDTH_LEFT_OUT_REASONS] = reasons_differ(
                        a->memory_bandwidth_left_out_reasons, b->memory_bandwidth_left_out_reasons),
                [CHANGED_MEMORY_AVAILABLE_BYTES] = free_differs(
                        &self->told_memory_available, b->memory_available_bytes, b->memory_total_bytes),
                [CHANGED_DEVICE_MEMORY_AVAILABLE_BYTES] = free_differs(&self->told_device_memory_available,
                        b->device_memory_available_bytes, b->device_memory_total_bytes),
                [CHANGED_DEVICE_MEMORY_UNREAD] = a->device_memory_unread != b->device_memory_unread,
                [CHANGED_MEMORY_TOTAL_BYTES] = a->memory_total_bytes != b->memory_total_bytes,
                [CHANGED_DEVICE_MEMORY_TOTAL_BYTES] = a->device_memory_total_bytes !=
                                                      b->device_memory_total_bytes,
        };
        uint32_t set = 0;

        for (size_t i = 0; i < CHANGED_N; i++)
                if (differs[i])
                        set |= UINT32_C(1) << i;
        return set;
}

int ald_totals_bus_append_reasons(sd_bus_message *message, const uint64_t counts[static ALD_LEFT_OUT_N])
{
        int r = sd_bus_message_open_container(message, 'a', "{sv}");

        for (unsigned reason = 0; r >= 0 && reason < ALD_LEFT_OUT_N; reason++)
                if (counts[reason] > 0)
                        r = sd_bus_message_append(
                                message, "{sv}", ald_left_out_to_string(reason), "t", counts[reason]);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_value(sd_bus_message *message, char type, const void *value)
{
        switch (type) {
        case 'r':
                return ald_totals_bus_append_reasons(message, value);
        case 's':
                return sd_bus_message_append_basic(message, 's', *(const char *const *) value);
        default:
                return sd_bus_message_append_basic(message, type, value);
        }
}

static int append_property(sd_bus_message *message, const AldTotalsBus *self, size_t i)
{
        const char signature[] = { properties[i].type, '\0' };
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append_basic(message, 's', properties[i].name);
        if (r >= 0)
                r = sd_bus_message_open_container(
                        message, 'v', properties[i].type == 'r' ? "a{sv}" : signature);
        if (r >= 0)
                r = append_value(message, properties[i].type, (const char *) self + properties[i].offset);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_changed(sd_bus_message *message, uint32_t set, void *userdata)
{
        int r;

        r = sd_bus_message_append_basic(message, 's', "org.alidade.State1");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (size_t i = 0; r >= 0 && i < CHANGED_N; i++)
                if (set & (UINT32_C(1) << i))
                        r = append_property(message, userdata, i);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_append(message, "as", 0);
}

static gboolean on_refresh(gpointer userdata)
{
        AldTotalsBus *self = userdata;
        Snapshot before = take_snapshot(self);

        self->timer = 0;
        compute(self);
        ald_signals_change_totals(self->signals, find_differences(self, &before));
        return G_SOURCE_REMOVE;
}

static void refresh_soon(AldTotalsBus *self)
{
        if (self->timer == 0)
                self->timer = g_timeout_add_seconds(REFRESH_SECONDS, on_refresh, self);
}

/* Compares the memory in use of the devices; their load and temperature do not enter the totals. */
static bool device_memory_differs(const AldSystem *a, const AldSystem *b)
{
        if (a->devices.n != b->devices.n)
                return true;
        for (size_t i = 0; i < a->devices.n; i++) {
                const AldDevice *before = ald_rows_at(&a->devices, i);
                const AldDevice *after = ald_rows_find(&b->devices, before->id);

                if (!after || before->memory_used_bytes != after->memory_used_bytes)
                        return true;
        }
        return false;
}

/* Whether such a change can change a count or sum. */
static bool matters(const AldTotalsBus *self, const AldEntry *entry, const AldRecord *before)
{
        if (!before || !entry->record || ald_store_n_hidden(self->store) != self->hidden)
                return true;
        switch (entry->kind) {
        case ALD_KIND_MEMORY: {
                const AldMemory *a = ald_record_as(before, MEMORY, AldMemory);
                const AldMemory *b = ald_record_as(entry->record, MEMORY, AldMemory);

                return a->total_bytes != b->total_bytes || a->available_bytes != b->available_bytes;
        }
        case ALD_KIND_SYSTEM:
                return device_memory_differs(ald_record_as(before, SYSTEM, AldSystem),
                        ald_record_as(entry->record, SYSTEM, AldSystem));
        case ALD_KIND_PRESENCE:
                return g_strcmp0(ald_record_as(before, PRESENCE, AldPresence)->state,
                               ald_record_as(entry->record, PRESENCE, AldPresence)->state) != 0;
        case ALD_KIND_BACKENDS:
        case ALD_KIND_COMPUTE:
                return before->hash != entry->record->hash;
        default:
                return false;
        }
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        if (matters(userdata, entry, before))
                refresh_soon(userdata);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        refresh_soon(userdata);
}

void ald_totals_bus_init(AldTotalsBus *self, AldSignals *signals, AldStateManager *manager)
{
        self->signals = signals;
        ald_signals_set_totals(signals, append_changed, self);
        self->store = ald_state_manager_store(manager);
        compute(self);
        self->told_memory_available = self->totals.memory_available_bytes;
        self->told_device_memory_available = self->totals.device_memory_available_bytes;
        ald_state_manager_watch(manager, on_changed, on_removing, self);
}

void ald_totals_bus_clear(AldTotalsBus *self)
{
        g_clear_handle_id(&self->timer, g_source_remove);
}
