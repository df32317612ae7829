/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/record-bus.h"
#include "services/common/timer.h"
#include "services/state/paths.h"
#include "services/state/records-bus.h"
#include "services/state/signals-bus.h"

/* So many signals may go at once after a quiet time. */
#define BURST 64.0

/* With so many messages that the bus has not taken, changes wait here, where further ones join them. */
#define QUEUE_MAX 256u
#define BLOCKED_RETRY_USEC (G_USEC_PER_SEC / 10)

struct AldSignals {
        AldService *service;
        GQueue waiting; /* of AldEntry, through AldEntry.waiting */
        AldTimer *timer;
        double budget;
        double per_second;
        gint64 filled; /* when the budget was last filled, CLOCK_MONOTONIC in µs */
};

static void leave_queue(AldSignals *signals, AldEntry *entry)
{
        g_queue_unlink(&signals->waiting, &entry->waiting);
        entry->is_waiting = false;
        g_clear_pointer(&entry->told, ald_record_unref);
}

/* Whether clients know of the object for the sake of another record. */
static bool has_other_announced(const AldEntry *entry)
{
        if (entry->key)
                return false;
        for (unsigned kind = 0; kind < ALD_N_NODE_KINDS; kind++)
                if (&entry->node->entries[kind] != entry && entry->node->entries[kind].announced)
                        return true;
        return false;
}

/* An object comes with all that is to be shown of it. */
static void mark_object_announced(AldSignals *signals, AldEntry *entry)
{
        entry->announced = true;
        for (unsigned kind = 0; !entry->key && kind < ALD_N_NODE_KINDS; kind++) {
                AldEntry *other = &entry->node->entries[kind];

                if (other == entry || !other->shown)
                        continue;
                other->announced = true;
                if (other->is_waiting)
                        leave_queue(signals, other);
        }
}

static int emit_added(AldSignals *signals, AldEntry *entry, const char *path)
{
        sd_bus *bus = ald_service_bus(signals->service);
        char *interfaces[] = { (char *) ald_kinds[entry->kind].interface, NULL };

        if (has_other_announced(entry)) {
                entry->announced = true;
                return sd_bus_emit_interfaces_added_strv(bus, path, interfaces);
        }
        mark_object_announced(signals, entry);
        return sd_bus_emit_object_added(bus, path);
}

/* A client drops an object with the last of its interfaces, and sd-bus gives three to each object. */
static int emit_removed(AldSignals *signals, AldEntry *entry, const char *path)
{
        char *interfaces[] = { (char *) ald_kinds[entry->kind].interface,
                (char *) "org.freedesktop.DBus.Introspectable", (char *) "org.freedesktop.DBus.Peer",
                (char *) "org.freedesktop.DBus.Properties", NULL };

        if (has_other_announced(entry))
                interfaces[1] = NULL;
        entry->announced = false;
        return sd_bus_emit_interfaces_removed_strv(ald_service_bus(signals->service), path, interfaces);
}

static void emit_entry(AldSignals *signals, AldEntry *entry)
{
        g_autofree char *path = ald_path_of_entry(entry);
        int r = 0;

        if (entry->announced && !entry->shown)
                r = emit_removed(signals, entry, path);
        else if (entry->shown && !entry->announced)
                r = emit_added(signals, entry, path);
        else if (entry->shown)
                r = ald_record_bus_emit_changed(ald_service_bus(signals->service), path, entry->kind,
                        entry->told ? ald_record_diff(entry->told, entry->record) : UINT64_MAX);
        if (r < 0)
                g_warning("Cannot tell of %s: %s", path, g_strerror(-r));
        ald_service_sent(signals->service, ald_records_bus_size(entry));
}

static void fill_budget(AldSignals *signals, gint64 now)
{
        double fill = signals->per_second * (double) (now - signals->filled) / G_USEC_PER_SEC;

        signals->budget = MIN(BURST, signals->budget + fill);
        signals->filled = now;
}

static bool bus_takes(AldSignals *signals)
{
        uint64_t queued = 0;

        sd_bus_get_n_queued_write(ald_service_bus(signals->service), &queued);
        return queued < QUEUE_MAX;
}

static void flush(void *userdata)
{
        AldSignals *signals = userdata;
        gint64 now = g_get_monotonic_time();

        fill_budget(signals, now);
        if (!bus_takes(signals)) {
                ald_timer_set(signals->timer, now + BLOCKED_RETRY_USEC);
                return;
        }
        while (signals->budget >= 1 && !g_queue_is_empty(&signals->waiting)) {
                AldEntry *entry = g_queue_peek_head(&signals->waiting);

                emit_entry(signals, entry);
                leave_queue(signals, entry);
                signals->budget--;
        }
        if (!g_queue_is_empty(&signals->waiting))
                ald_timer_set(signals->timer, now + (gint64) (G_USEC_PER_SEC / signals->per_second) + 1);
}

/* Sent from the main loop rather than at once, so that what one message changed goes out together. */
static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldSignals *signals = userdata;

        if (entry->is_waiting)
                return;
        if (!entry->announced && !entry->shown)
                return;
        entry->is_waiting = true;
        entry->told = before ? ald_record_ref(before) : NULL;
        if (g_queue_is_empty(&signals->waiting))
                ald_timer_set(signals->timer, 0);
        g_queue_push_tail_link(&signals->waiting, &entry->waiting);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldSignals *signals = userdata;

        if (entry->is_waiting)
                leave_queue(signals, entry);
        if (entry->announced)
                emit_entry(signals, entry);
}

/* What is there before the first client can be connected needs no announcement. */
static void mark_announced(AldStore *store)
{
        AldEntry *entry = ald_store_after(store, NULL, 0, NULL);

        while (entry) {
                entry->announced = entry->shown;
                entry = ald_store_after(store, &entry->node->id, entry->kind, entry->key);
        }
}

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret)
{
        AldSignals *signals = g_new0(AldSignals, 1);

        *ret = signals;
        signals->service = service;
        signals->budget = BURST;
        signals->per_second = ALD_SIGNALS_PER_SECOND;
        signals->filled = g_get_monotonic_time();
        g_queue_init(&signals->waiting);
        signals->timer = ald_timer_new("signals", flush, signals);
        mark_announced(ald_state_manager_store(manager));
        ald_state_manager_watch(manager, on_changed, on_removing, signals);
        return 0;
}

void ald_signals_free(AldSignals *signals)
{
        if (!signals)
                return;
        ald_timer_free(signals->timer);
        g_free(signals);
}

void ald_signals_set_subscribed(AldSignals *signals, bool subscribed)
{
        fill_budget(signals, g_get_monotonic_time());
        signals->per_second = subscribed ? ALD_SIGNALS_PER_SECOND_SUBSCRIBED : ALD_SIGNALS_PER_SECOND;
}
