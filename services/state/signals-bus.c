/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

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

/* What a removal takes on the bus beside its path, at most. */
#define WIRE_PER_REMOVAL 512u

/*
 * What clients know of one record. It outlives its entry until they are told that that is gone. There are no
 * more of these than were shown at a time: what is new is announced behind the removals that wait.
 */
typedef struct Notice {
        AldEntry *entry; /* NULL where it is forgotten */
        char *path;      /* only then */
        AldKind kind;
        bool announced;
        bool is_waiting;
        GList waiting;
        AldRecord *told; /* the record that clients know, while a change of it waits */
} Notice;

struct AldSignals {
        AldService *service;
        AldStore *store;
        GQueue waiting; /* of Notice, through Notice.waiting */
        AldTimer *timer;
        double budget;
        double per_second;
        gint64 filled; /* when the budget was last filled, CLOCK_MONOTONIC in µs */
};

static Notice *notice_of(AldEntry *entry)
{
        Notice *notice = entry->notice;

        if (!notice) {
                notice = g_new0(Notice, 1);
                notice->entry = entry;
                notice->kind = entry->kind;
                notice->waiting.data = notice;
                entry->notice = notice;
        }
        return notice;
}

static void notice_free(Notice *notice)
{
        if (notice->entry)
                notice->entry->notice = NULL;
        g_clear_pointer(&notice->told, ald_record_unref);
        g_free(notice->path);
        g_free(notice);
}

static bool is_announced(const AldEntry *entry)
{
        const Notice *notice = entry->notice;

        return notice && notice->announced;
}

static void join_queue(AldSignals *signals, Notice *notice)
{
        notice->is_waiting = true;
        if (g_queue_is_empty(&signals->waiting))
                ald_timer_set(signals->timer, 0);
        g_queue_push_tail_link(&signals->waiting, &notice->waiting);
}

static void leave_queue(AldSignals *signals, Notice *notice)
{
        g_queue_unlink(&signals->waiting, &notice->waiting);
        notice->is_waiting = false;
        g_clear_pointer(&notice->told, ald_record_unref);
}

/* What is to be shown of an object comes at once. */
static int emit_added(AldSignals *signals, AldEntry *entry, const char *path)
{
        char *interfaces[ALD_N_NODE_KINDS + 1] = { (char *) ald_kinds[entry->kind].interface };

        notice_of(entry)->announced = true;
        for (unsigned kind = 0, n = 1; !entry->key && kind < ALD_N_NODE_KINDS; kind++) {
                AldEntry *other = &entry->node->entries[kind];
                Notice *notice;

                if (!other->shown || is_announced(other))
                        continue;
                notice = notice_of(other);
                notice->announced = true;
                if (notice->is_waiting)
                        leave_queue(signals, notice);
                interfaces[n++] = (char *) ald_kinds[kind].interface;
        }
        return sd_bus_emit_interfaces_added_strv(ald_service_bus(signals->service), path, interfaces);
}

static int emit_hidden(AldSignals *signals, AldEntry *entry, const char *path)
{
        char *interfaces[] = { (char *) ald_kinds[entry->kind].interface, NULL };

        notice_of(entry)->announced = false;
        return sd_bus_emit_interfaces_removed_strv(ald_service_bus(signals->service), path, interfaces);
}

static void emit_entry(AldSignals *signals, Notice *notice)
{
        AldEntry *entry = notice->entry;
        g_autofree char *path = ald_path_of_entry(entry);
        int r = 0;

        if (notice->announced && !entry->shown)
                r = emit_hidden(signals, entry, path);
        else if (entry->shown && !notice->announced)
                r = emit_added(signals, entry, path);
        else if (entry->shown)
                r = ald_record_bus_emit_changed(ald_service_bus(signals->service), path, entry->kind,
                        notice->told ? ald_record_diff(notice->told, entry->record) : UINT64_MAX);
        if (r < 0)
                g_warning("Cannot tell of %s: %s", path, g_strerror(-r));
        ald_service_sent(signals->service, ald_records_bus_size(entry));
        leave_queue(signals, notice);
        if (!notice->announced)
                notice_free(notice);
}

/* All that was forgotten of one object at once goes in one signal. */
static void emit_forgotten(AldSignals *signals, Notice *notice)
{
        g_autoptr(GPtrArray) interfaces = g_ptr_array_new();
        g_autofree char *path = g_steal_pointer(&notice->path);
        Notice *next = notice;
        int r;

        do {
                notice = next;
                g_ptr_array_add(interfaces, (gpointer) ald_kinds[notice->kind].interface);
                leave_queue(signals, notice);
                notice_free(notice);
                next = g_queue_peek_head(&signals->waiting);
        } while (next && g_strcmp0(next->path, path) == 0);

        g_ptr_array_add(interfaces, NULL);
        r = sd_bus_emit_interfaces_removed_strv(
                ald_service_bus(signals->service), path, (char **) interfaces->pdata);
        if (r < 0)
                g_warning("Cannot tell that %s is gone: %s", path, g_strerror(-r));
        ald_service_sent(signals->service, WIRE_PER_REMOVAL + strlen(path));
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
                Notice *notice = g_queue_peek_head(&signals->waiting);

                if (notice->entry)
                        emit_entry(signals, notice);
                else
                        emit_forgotten(signals, notice);
                signals->budget--;
        }
        if (!g_queue_is_empty(&signals->waiting))
                ald_timer_set(signals->timer, now + (gint64) (G_USEC_PER_SEC / signals->per_second) + 1);
}

/* Sent from the main loop rather than at once, so that what one message changed goes out together. */
static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        Notice *notice = entry->notice;

        if (notice && notice->is_waiting)
                return;
        if (!is_announced(entry) && !entry->shown)
                return;
        notice = notice_of(entry);
        notice->told = before ? ald_record_ref(before) : NULL;
        join_queue(userdata, notice);
}

/* Whoever does not know of it yet need not be told. */
static void on_removing(AldEntry *entry, void *userdata)
{
        AldSignals *signals = userdata;
        Notice *notice = entry->notice;

        if (!notice)
                return;
        if (!notice->announced) {
                if (notice->is_waiting)
                        leave_queue(signals, notice);
                notice_free(notice);
                return;
        }
        notice->path = ald_path_of_entry(entry);
        notice->entry = entry->notice = NULL;
        if (!notice->is_waiting)
                join_queue(signals, notice);
}

/* What is there before the first client can be connected needs no announcement. */
static void mark_announced(AldStore *store)
{
        AldEntry *entry = ald_store_after(store, NULL, 0, NULL);

        while (entry) {
                if (entry->shown)
                        notice_of(entry)->announced = true;
                entry = ald_store_after(store, &entry->node->id, entry->kind, entry->key);
        }
}

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret)
{
        AldSignals *signals = g_new0(AldSignals, 1);

        *ret = signals;
        signals->service = service;
        signals->store = ald_state_manager_store(manager);
        signals->budget = BURST;
        signals->per_second = ALD_SIGNALS_PER_SECOND;
        signals->filled = g_get_monotonic_time();
        g_queue_init(&signals->waiting);
        signals->timer = ald_timer_new("signals", flush, signals);
        mark_announced(signals->store);
        ald_state_manager_watch(manager, on_changed, on_removing, signals);
        return 0;
}

void ald_signals_free(AldSignals *signals)
{
        Notice *notice;

        if (!signals)
                return;
        while ((notice = g_queue_peek_head(&signals->waiting))) {
                leave_queue(signals, notice);
                notice_free(notice);
        }
        for (AldEntry *entry = ald_store_after(signals->store, NULL, 0, NULL); entry;
                entry = ald_store_after(signals->store, &entry->node->id, entry->kind, entry->key))
                if (entry->notice)
                        notice_free(entry->notice);
        ald_timer_free(signals->timer);
        g_free(signals);
}

void ald_signals_set_subscribed(AldSignals *signals, bool subscribed)
{
        fill_budget(signals, g_get_monotonic_time());
        signals->per_second = subscribed ? ALD_SIGNALS_PER_SECOND_SUBSCRIBED : ALD_SIGNALS_PER_SECOND;
}
