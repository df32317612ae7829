/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/state/totals-bus.h"
#include "services/state/totals-watch.h"

/* The changes of a second are signalled together. */
#define REFRESH_SECONDS 1u

/* Readers cannot make the service compute more often than this. */
#define READ_REFRESH_USEC (G_USEC_PER_SEC / 10)

struct AldTotalsWatch {
        AldSignals *signals;
        AldStore *store;
        const char *node_id;
        AldTotals totals;
        AldTotals signalled; /* as last signalled */
        uint32_t seen;       /* properties that readers have seen with other values than were signalled */
        guint timer;
        gint64 read; /* when they were last computed for a reader, CLOCK_MONOTONIC in µs; 0: never */
        bool stale;  /* something changed since they were computed */
};

static bool update_reasons(
        uint64_t signalled[static ALD_LEFT_OUT_N], const uint64_t now[static ALD_LEFT_OUT_N])
{
        const size_t size = ALD_LEFT_OUT_N * sizeof *now;
        bool differs = memcmp(signalled, now, size) != 0;

        memcpy(signalled, now, size);
        return differs;
}

/* Returns the properties that differ from what was last signalled, so that small steps add up, and records
 * them as signalled. */
static uint32_t update_signalled(AldTotalsWatch *self)
{
        const AldStruct *type = &ald_cluster_totals_struct;
        uint32_t set = 0;

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (!ald_field_beyond_threshold(field, ald_field_of(field, &self->signalled.figures),
                            ald_field_of(field, &self->totals.figures)))
                        continue;
                ald_field_copy(field, &self->signalled.figures, &self->totals.figures);
                set |= ALD_TOTALS_FIGURE(i);
        }
        if (update_reasons(self->signalled.tflops_fp16_reasons, self->totals.tflops_fp16_reasons))
                set |= ALD_TOTALS_TFLOPS_FP16_REASONS;
        if (update_reasons(self->signalled.memory_bandwidth_reasons, self->totals.memory_bandwidth_reasons))
                set |= ALD_TOTALS_MEMORY_BANDWIDTH_REASONS;
        return set;
}

static void compute_totals(AldTotalsWatch *self)
{
        self->stale = false;
        ald_totals_compute(self->store, &self->totals);
        self->totals.figures.node_id = self->node_id;
}

static gboolean on_refresh(gpointer userdata)
{
        AldTotalsWatch *self = userdata;

        self->timer = 0;
        if (self->stale)
                compute_totals(self);
        ald_signals_change_totals(self->signals, &self->totals, self->seen | update_signalled(self));
        self->seen = 0;
        return G_SOURCE_REMOVE;
}

static void refresh_soon(AldTotalsWatch *self)
{
        self->stale = true;
        if (self->timer == 0)
                self->timer = g_timeout_add_seconds(REFRESH_SECONDS, on_refresh, self);
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldTotalsWatch *self = userdata;
        bool matters = ald_totals_note_change(entry, before);

        if (matters || ald_store_n_hidden(self->store) != self->totals.figures.hidden)
                refresh_soon(self);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        (void) ald_totals_note_change(entry, NULL);
        refresh_soon(userdata);
}

AldTotalsWatch *ald_totals_watch_new(AldStateManager *manager, AldSignals *signals, const char *node_id)
{
        AldTotalsWatch *self = g_new0(AldTotalsWatch, 1);

        self->signals = signals;
        self->store = ald_state_manager_store(manager);
        self->node_id = node_id;
        compute_totals(self);
        self->signalled = self->totals;
        ald_state_manager_watch(manager, on_changed, on_removing, self);
        return self;
}

void ald_totals_watch_free(AldTotalsWatch *self)
{
        if (!self)
                return;
        g_clear_handle_id(&self->timer, g_source_remove);
        g_free(self);
}

void ald_totals_watch_refresh(AldTotalsWatch *self)
{
        gint64 now = g_get_monotonic_time();

        if (!self->stale || (self->read != 0 && now - self->read < READ_REFRESH_USEC))
                return;
        self->read = now;
        compute_totals(self);
        /* Readers must hear of it if a figure goes back to what was signalled last. */
        self->seen |= update_signalled(self);
}

const AldTotals *ald_totals_watch_totals(const AldTotalsWatch *self)
{
        return &self->totals;
}
