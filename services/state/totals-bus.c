/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <string.h>

#include "record/record-bus.h"
#include "services/state/paths.h"
#include "services/state/totals-bus.h"
#include "state/compute/compute-summary.h"

/* Changes of a second are signalled together. */
#define REFRESH_SECONDS 1u

/* Readers cannot make the service compute more often than this. */
#define READ_REFRESH_USEC (G_USEC_PER_SEC / 10)

/* Bits of a set of changes: the fields of the struct, then these. */
enum {
        TFLOPS_REASONS,
        MEMORY_BANDWIDTH_REASONS,
        REASONS_N,
};

static const char *const reasons_names[REASONS_N] = {
        [TFLOPS_REASONS] = "TflopsFp16LeftOutReasons",
        [MEMORY_BANDWIDTH_REASONS] = "MemoryBandwidthLeftOutReasons",
};

static uint64_t *reasons_of(AldTotals *totals, unsigned which)
{
        return which == TFLOPS_REASONS ? totals->tflops_fp16_reasons : totals->memory_bandwidth_reasons;
}

/* Against what was last signalled, so that small steps add up; what differs is taken as signalled now. */
static uint32_t take_differences(AldTotalsBus *self)
{
        const AldStruct *type = &ald_cluster_totals_struct;
        uint32_t set = 0;

        G_STATIC_ASSERT(sizeof(AldClusterTotals) / sizeof(uint64_t) + REASONS_N <= 32);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (!ald_field_beyond_threshold(field, ald_field_of(field, &self->signalled.figures),
                            ald_field_of(field, &self->totals.figures)))
                        continue;
                ald_field_copy(field, &self->signalled.figures, &self->totals.figures);
                set |= UINT32_C(1) << i;
        }
        for (unsigned i = 0; i < REASONS_N; i++) {
                uint64_t *signalled = reasons_of(&self->signalled, i), *now = reasons_of(&self->totals, i);

                if (memcmp(signalled, now, ALD_LEFT_OUT_N * sizeof *now) != 0)
                        set |= UINT32_C(1) << (type->n_fields + i);
                memcpy(signalled, now, ALD_LEFT_OUT_N * sizeof *now);
        }
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

static int append_reasons_property(sd_bus_message *message, AldTotalsBus *self, unsigned which)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append_basic(message, 's', reasons_names[which]);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{sv}");
        if (r >= 0)
                r = ald_totals_bus_append_reasons(message, reasons_of(&self->totals, which));
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_changed(sd_bus_message *message, uint32_t set, void *userdata)
{
        const AldStruct *type = &ald_cluster_totals_struct;
        AldTotalsBus *self = userdata;
        int r;

        r = sd_bus_message_append_basic(message, 's', "org.alidade.State1");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (size_t i = 0; r >= 0 && i < type->n_fields; i++)
                if (set & UINT32_C(1) << i)
                        r = ald_record_bus_append_field(message, &type->fields[i], &self->totals.figures);
        for (unsigned i = 0; r >= 0 && i < REASONS_N; i++)
                if (set & UINT32_C(1) << (type->n_fields + i))
                        r = append_reasons_property(message, self, i);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_append(message, "as", 0);
}

static void compute(AldTotalsBus *self)
{
        self->stale = false;
        ald_totals_compute(self->store, &self->totals);
        self->totals.figures.node_id = self->node_id;
}

static gboolean on_refresh(gpointer userdata)
{
        AldTotalsBus *self = userdata;

        self->timer = 0;
        if (self->stale)
                compute(self);
        ald_signals_change_totals(self->signals, take_differences(self));
        return G_SOURCE_REMOVE;
}

static void refresh_soon(AldTotalsBus *self)
{
        self->stale = true;
        if (self->timer == 0)
                self->timer = g_timeout_add_seconds(REFRESH_SECONDS, on_refresh, self);
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldTotalsBus *self = userdata;
        bool matters = ald_totals_note_change(entry, before);

        if (matters || ald_store_n_hidden(self->store) != self->totals.figures.hidden)
                refresh_soon(self);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        (void) ald_totals_note_change(entry, NULL);
        refresh_soon(userdata);
}

/* Each property has its own getter call, so all of them are computed before the first one. */
static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        AldTotalsBus *self = userdata;
        gint64 now = g_get_monotonic_time();

        if (self->stale && (self->read == 0 || now - self->read >= READ_REFRESH_USEC) &&
                sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Properties", NULL)) {
                self->read = now;
                compute(self);
        }
        return 0;
}

int ald_totals_bus_init(
        AldTotalsBus *self, sd_bus *bus, AldSignals *signals, AldStateManager *manager, const char *node_id)
{
        self->signals = signals;
        self->node_id = node_id;
        ald_signals_set_totals(signals, append_changed, self);
        self->store = ald_state_manager_store(manager);
        compute(self);
        self->signalled = self->totals;
        ald_state_manager_watch(manager, on_changed, on_removing, self);
        return sd_bus_add_object(bus, &self->slot, ALD_STATE_PATH, on_call, self);
}

void ald_totals_bus_clear(AldTotalsBus *self)
{
        sd_bus_slot_unref(self->slot);
        g_clear_handle_id(&self->timer, g_source_remove);
}
