/* SPDX-License-Identifier: LGPL-2.1-or-later */
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

static void emit_differences(AldTotalsBus *self, const Snapshot *before)
{
        const AldTotals *a = &before->totals, *b = &self->totals;
        const struct {
                const char *name;
                bool differs;
        } properties[] = {
                { "Nodes", before->nodes != self->nodes },
                { "Links", before->links != self->links },
                { "Hidden", before->hidden != self->hidden },
                { "NodesLeftOut", a->nodes_left_out != b->nodes_left_out },
                { "TflopsFp16", doubles_differ(a->tflops_fp16, b->tflops_fp16) },
                { "TflopsFp16LeftOut", a->tflops_fp16_left_out != b->tflops_fp16_left_out },
                { "TflopsFp16LeftOutReasons",
                        reasons_differ(a->tflops_fp16_left_out_reasons, b->tflops_fp16_left_out_reasons) },
                { "MemoryBandwidthBytesPerSecond",
                        a->memory_bandwidth_bytes_per_second != b->memory_bandwidth_bytes_per_second },
                { "MemoryBandwidthOf", g_strcmp0(a->memory_bandwidth_of, b->memory_bandwidth_of) != 0 },
                { "MemoryBandwidthLeftOut", a->memory_bandwidth_left_out != b->memory_bandwidth_left_out },
                { "MemoryBandwidthLeftOutReasons", reasons_differ(a->memory_bandwidth_left_out_reasons,
                                                           b->memory_bandwidth_left_out_reasons) },
                { "MemoryAvailableBytes", free_differs(&self->told_memory_available,
                                                  b->memory_available_bytes, b->memory_total_bytes) },
                { "DeviceMemoryAvailableBytes",
                        free_differs(&self->told_device_memory_available, b->device_memory_available_bytes,
                                b->device_memory_total_bytes) },
                { "DeviceMemoryUnread", a->device_memory_unread != b->device_memory_unread },
                { "MemoryTotalBytes", a->memory_total_bytes != b->memory_total_bytes },
                { "DeviceMemoryTotalBytes", a->device_memory_total_bytes != b->device_memory_total_bytes },
        };
        const char *names[G_N_ELEMENTS(properties) + 1];
        size_t n = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++)
                if (properties[i].differs)
                        names[n++] = properties[i].name;
        names[n] = NULL;
        if (n > 0)
                sd_bus_emit_properties_changed_strv(ald_service_bus(self->service), ALD_STATE_PATH,
                        "org.alidade.State1", (char **) names);
}

static gboolean on_refresh(gpointer userdata)
{
        AldTotalsBus *self = userdata;
        Snapshot before = take_snapshot(self);

        self->timer = 0;
        compute(self);
        emit_differences(self, &before);
        return G_SOURCE_REMOVE;
}

static void refresh_soon(AldTotalsBus *self)
{
        if (self->timer == 0)
                self->timer = g_timeout_add_seconds(REFRESH_SECONDS, on_refresh, self);
}

/* The memory in use of each device; their load and heat, which change all the time, never matter. */
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

void ald_totals_bus_init(AldTotalsBus *self, AldService *service, AldStateManager *manager)
{
        self->service = service;
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
