/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/state/paths.h"
#include "services/state/totals-bus.h"

/* Changes of a second are summed up and told together. */
#define REFRESH_SECONDS 1u

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
                { "TflopsFp16", doubles_differ(a->tflops_fp16, b->tflops_fp16) },
                { "TflopsFp16LeftOut", a->tflops_fp16_left_out != b->tflops_fp16_left_out },
                { "MemoryBandwidthBytesPerSecond",
                        a->memory_bandwidth_bytes_per_second != b->memory_bandwidth_bytes_per_second },
                { "MemoryBandwidthOf", g_strcmp0(a->memory_bandwidth_of, b->memory_bandwidth_of) != 0 },
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

/* Whether such a change can change a count or sum. Usage changes all the time and never does. */
static bool matters(const AldTotalsBus *self, const AldEntry *entry, const AldRecord *before)
{
        if (!before || !entry->record || ald_store_n_hidden(self->store) != self->hidden)
                return true;
        switch (entry->kind) {
        case ALD_KIND_MEMORY:
                return ald_record_as(before, MEMORY, AldMemory)->total_bytes !=
                       ald_record_as(entry->record, MEMORY, AldMemory)->total_bytes;
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
        ald_state_manager_watch(manager, on_changed, on_removing, self);
}

void ald_totals_bus_clear(AldTotalsBus *self)
{
        g_clear_handle_id(&self->timer, g_source_remove);
}
