/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/timer.h"
#include "services/state/signals-bus.h"
#include "services/state/signals.h"

/* The audiences are all subscribers and, as the last one, all clients: subscribers wait for changes, while
 * broadcasts may be far behind. */
struct AldSignals {
        AldService *service;
        GPtrArray *audiences; /* of AldAudience */
        AldTimer *timer;
        const AldTotals *totals;
};

/* Sends an audience what is due. Returns when to continue. */
static gint64 flush_audience(AldSignals *signals, AldAudience *audience, gint64 now)
{
        while (ald_audience_is_due(audience, now)) {
                if (!ald_signals_bus_can_send(signals->service, audience))
                        return ald_audience_note_blocked(audience, now);
                ald_audience_spend(audience);
                ald_signals_bus_emit_next(signals->service, audience, signals->totals);
        }
        return ald_audience_next(audience, now);
}

static void flush_audiences(void *userdata)
{
        AldSignals *signals = userdata;
        gint64 now = g_get_monotonic_time(), again = ALD_TIMER_NEVER;

        for (guint i = 0; i < signals->audiences->len; i++) {
                gint64 next = flush_audience(signals, signals->audiences->pdata[i], now);

                again = MIN(again, next);
        }
        ald_timer_set(signals->timer, again);
}

/* Signals are sent from the main loop rather than at once, so that all changes by one message are sent
 * together. */
static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldSignals *signals = userdata;
        const GPtrArray *audiences = signals->audiences;

        /* Under load most records change again before the signal of their last change is sent. */
        if ((entry->announced || entry->shown) && entry->n_awaiting < audiences->len)
                for (guint i = 0; i < audiences->len; i++)
                        if (ald_audience_note_change(audiences->pdata[i], entry, before))
                                ald_timer_set(signals->timer, 0);
        entry->announced = entry->shown;
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldSignals *signals = userdata;

        for (guint i = 0; i < signals->audiences->len; i++)
                if (ald_audience_note_removal(signals->audiences->pdata[i], entry))
                        ald_timer_set(signals->timer, 0);
        entry->announced = false;
}

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret)
{
        AldSignals *signals = g_new0(AldSignals, 1);
        AldStore *store = ald_state_manager_store(manager);

        *ret = signals;
        signals->service = service;
        signals->audiences = g_ptr_array_new_with_free_func((GDestroyNotify) ald_audience_free);
        g_ptr_array_add(signals->audiences, ald_audience_new(NULL, 0, g_get_monotonic_time()));
        signals->timer = ald_timer_new("signals", flush_audiences, signals);
        /* Entries that exist before the first client can connect need no signal. */
        for (AldEntry *entry = ald_store_after(store, NULL, 0, NULL); entry;
                entry = ald_store_after(store, &entry->node->id, entry->kind, entry->key))
                entry->announced = entry->shown;
        ald_state_manager_watch(manager, on_changed, on_removing, signals);
        return 0;
}

void ald_signals_free(AldSignals *signals)
{
        if (!signals)
                return;
        g_ptr_array_unref(signals->audiences);
        ald_timer_free(signals->timer);
        g_free(signals);
}

static bool find_subscriber(AldSignals *signals, const char *name, guint *ret)
{
        for (guint i = 0; i < signals->audiences->len; i++) {
                const AldAudience *audience = signals->audiences->pdata[i];

                if (g_strcmp0(audience->name, name) == 0) {
                        *ret = i;
                        return true;
                }
        }
        return false;
}

int ald_signals_subscribe(AldSignals *signals, const char *name, uid_t uid)
{
        gint64 now = g_get_monotonic_time();
        guint i;

        if (find_subscriber(signals, name, &i))
                return -EEXIST;
        g_ptr_array_insert(
                signals->audiences, (gint) signals->audiences->len - 1, ald_audience_new(name, uid, now));
        ald_audiences_share(signals->audiences, now);
        return 0;
}

void ald_signals_unsubscribe(AldSignals *signals, const char *name)
{
        guint i;

        if (!find_subscriber(signals, name, &i))
                return;
        g_ptr_array_remove_index(signals->audiences, i);
        ald_audiences_share(signals->audiences, g_get_monotonic_time());
}

void ald_signals_change_totals(AldSignals *signals, const AldTotals *totals, uint32_t properties)
{
        if (properties == 0)
                return;
        signals->totals = totals;
        for (guint i = 0; i < signals->audiences->len; i++)
                ((AldAudience *) signals->audiences->pdata[i])->totals |= properties;
        ald_timer_set(signals->timer, 0);
}

void ald_signals_change_view(AldSignals *signals, AldDerivedView view, uint64_t revision)
{
        for (guint i = 0; i < signals->audiences->len; i++)
                ((AldAudience *) signals->audiences->pdata[i])->views[view] = revision;
        ald_timer_set(signals->timer, 0);
}
