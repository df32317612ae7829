/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/record-bus.h"
#include "services/state/paths.h"
#include "services/state/signals-bus.h"

/* So many signals may go at once after a quiet time. */
#define BURST 64.0

/* With so many messages that the bus has not taken, it is not reading. */
#define QUEUE_MAX 256u
#define BLOCKED_RETRY_USEC (G_USEC_PER_SEC / 10)
#define BLOCKED_MAX_USEC (10 * G_USEC_PER_SEC)

struct AldSignals {
        AldService *service;
        GQueue waiting; /* of AldEntry, through AldEntry.waiting */
        GSource *source;
        double budget;
        double per_second;
        gint64 filled;        /* when the budget was last filled, CLOCK_MONOTONIC in µs */
        gint64 blocked_since; /* 0: not blocked */
        uint64_t queued;      /* messages the bus had not taken when last looked */
};

static void emit_interface(AldSignals *signals, AldEntry *entry, const char *path, bool added)
{
        sd_bus *bus = ald_service_bus(signals->service);
        char *interfaces[] = { (char *) ald_kinds[entry->kind].interface, NULL };
        int r = added ? sd_bus_emit_interfaces_added_strv(bus, path, interfaces)
                      : sd_bus_emit_interfaces_removed_strv(bus, path, interfaces);

        if (r < 0)
                g_warning("Cannot announce %s: %s", path, g_strerror(-r));
        entry->announced = added;
}

static void emit_entry(AldSignals *signals, AldEntry *entry)
{
        g_autofree char *path = ald_path_of_entry(entry);

        if (entry->announced != entry->shown)
                emit_interface(signals, entry, path, entry->shown);
        else if (entry->shown)
                ald_record_bus_emit_changed(ald_service_bus(signals->service), path, entry->kind,
                        entry->told ? ald_record_diff(entry->told, entry->record) : UINT64_MAX);
}

static void leave_queue(AldSignals *signals, AldEntry *entry)
{
        g_queue_unlink(&signals->waiting, &entry->waiting);
        entry->is_waiting = false;
        g_clear_pointer(&entry->told, ald_record_unref);
}

static void fill_budget(AldSignals *signals, gint64 now)
{
        double fill = signals->per_second * (double) (now - signals->filled) / G_USEC_PER_SEC;

        signals->budget = MIN(BURST, signals->budget + fill);
        signals->filled = now;
}

/* Whether the bus takes what is sent. What it has not taken for long it will not take from this connection.
 */
static bool bus_takes(AldSignals *signals, gint64 now)
{
        uint64_t queued = 0, before = signals->queued;

        sd_bus_get_n_queued_write(ald_service_bus(signals->service), &queued);
        signals->queued = queued;
        if (queued < QUEUE_MAX) {
                signals->blocked_since = 0;
                return true;
        }
        if (signals->blocked_since == 0 || queued < before)
                signals->blocked_since = now;
        else if (now - signals->blocked_since > BLOCKED_MAX_USEC)
                ald_service_quit(
                        signals->service, -EPIPE, "The bus reads no more; a client has stopped reading");
        return false;
}

static gboolean flush(gpointer userdata)
{
        AldSignals *signals = userdata;
        gint64 now = g_get_monotonic_time();

        fill_budget(signals, now);
        if (!bus_takes(signals, now)) {
                g_source_set_ready_time(signals->source, now + BLOCKED_RETRY_USEC);
                return G_SOURCE_CONTINUE;
        }
        while (signals->budget >= 1 && !g_queue_is_empty(&signals->waiting)) {
                AldEntry *entry = g_queue_peek_head(&signals->waiting);

                emit_entry(signals, entry);
                leave_queue(signals, entry);
                signals->budget--;
        }
        g_source_set_ready_time(
                signals->source, g_queue_is_empty(&signals->waiting)
                                         ? -1
                                         : now + (gint64) (G_USEC_PER_SEC / signals->per_second) + 1);
        return G_SOURCE_CONTINUE;
}

static gboolean dispatch_flush(GSource *source, GSourceFunc callback, gpointer userdata)
{
        return callback(userdata);
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
                g_source_set_ready_time(signals->source, 0);
        g_queue_push_tail_link(&signals->waiting, &entry->waiting);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldSignals *signals = userdata;

        if (entry->is_waiting)
                leave_queue(signals, entry);
        if (entry->announced) {
                g_autofree char *path = ald_path_of_entry(entry);
                emit_interface(signals, entry, path, false);
        }
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
        static GSourceFuncs funcs = { NULL, NULL, dispatch_flush, NULL, NULL, NULL };
        AldSignals *signals = g_new0(AldSignals, 1);

        *ret = signals;
        signals->service = service;
        signals->budget = BURST;
        signals->per_second = ALD_SIGNALS_PER_SECOND;
        signals->filled = g_get_monotonic_time();
        g_queue_init(&signals->waiting);
        signals->source = g_source_new(&funcs, sizeof(GSource));
        g_source_set_name(signals->source, "signals");
        g_source_set_callback(signals->source, flush, signals, NULL);
        g_source_attach(signals->source, NULL);
        mark_announced(ald_state_manager_store(manager));
        ald_state_manager_watch(manager, on_changed, on_removing, signals);
        return 0;
}

void ald_signals_free(AldSignals *signals)
{
        if (!signals)
                return;
        g_source_destroy(signals->source);
        g_source_unref(signals->source);
        g_free(signals);
}

void ald_signals_set_subscribed(AldSignals *signals, bool subscribed)
{
        fill_budget(signals, g_get_monotonic_time());
        signals->per_second = subscribed ? ALD_SIGNALS_PER_SECOND_SUBSCRIBED : ALD_SIGNALS_PER_SECOND;
}
