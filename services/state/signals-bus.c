/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "services/common/record-signals.h"
#include "services/common/timer.h"
#include "services/state/paths.h"
#include "services/state/records-bus.h"
#include "services/state/signals-bus.h"
#include "services/state/totals-bus.h"

/* The size of a burst of signals after a quiet time. */
#define BURST 64.0

/* If this many messages are queued for the bus, changes wait here and are merged with further ones. */
#define QUEUE_MAX 256u
#define BLOCKED_RETRY_USEC (G_USEC_PER_SEC / 10)

/* An audience that has waited this long, or for which more changes wait than it is sent in a second, receives
 * all fields of changed records, since the last sent records are not kept. */
#define BEHIND_USEC (1 * G_USEC_PER_SEC)

/* What a signal takes on the bus beside its path and records, at most. */
#define WIRE_PER_SIGNAL 512u
#define WIRE_OF_TOTALS 2048u

/* All clients, or one subscriber. */
typedef struct Audience {
        AldSignals *signals;
        char *name; /* the unique name of a subscriber; NULL for everybody */
        uid_t uid;
        GHashTable *notices;           /* AldEntry → Notice, for those that are not forgotten */
        GQueue waiting;                /* of Notice, through Notice.place */
        uint32_t totals;               /* properties of the state itself that wait */
        uint64_t views[ALD_DERIVED_N]; /* revisions that wait; 0: none */
        double per_second;             /* signals */
        double budget;                 /* of signals */
        gint64 filled;                 /* when the budget was last filled, CLOCK_MONOTONIC in µs */
        gint64 blocked_since;          /* 0: it takes what it is sent */
        bool behind;
} Audience;

/* A change of one record that an audience has yet to be notified of. It outlives its entry until then. */
typedef struct Notice {
        AldEntry *entry; /* NULL if it is forgotten */
        char *path;      /* only then */
        AldKind kind;
        bool known;      /* whether the audience knows that there is such a record */
        AldRecord *sent; /* the one it knows, or NULL if it must receive all fields */
        GList place;
} Notice;

struct AldSignals {
        AldService *service;
        AldStore *store;
        Audience *everybody;
        GPtrArray *subscribers; /* of Audience */
        AldTimer *timer;
        const AldTotals *totals;
};

/* The notice no longer belongs to its entry. */
static void detach(Audience *audience, Notice *notice)
{
        g_hash_table_remove(audience->notices, notice->entry);
        notice->entry->n_awaiting--;
        notice->entry = NULL;
}

static void notice_free(Audience *audience, Notice *notice)
{
        g_queue_unlink(&audience->waiting, &notice->place);
        if (notice->entry)
                detach(audience, notice);
        g_clear_pointer(&notice->sent, ald_record_unref);
        g_free(notice->path);
        g_free(notice);
}

static Audience *audience_new(AldSignals *signals, const char *name, uid_t uid)
{
        Audience *audience = g_new0(Audience, 1);

        audience->signals = signals;
        audience->name = g_strdup(name);
        audience->uid = uid;
        audience->notices = g_hash_table_new(NULL, NULL);
        audience->per_second = ALD_SIGNALS_PER_SECOND;
        audience->budget = BURST;
        audience->filled = g_get_monotonic_time();
        g_queue_init(&audience->waiting);
        return audience;
}

static void audience_free(gpointer data)
{
        Audience *audience = data;
        Notice *notice;

        while ((notice = g_queue_peek_head(&audience->waiting)))
                notice_free(audience, notice);
        g_hash_table_unref(audience->notices);
        g_free(audience->name);
        g_free(audience);
}

/* Subscribers come first: they wait for changes, while broadcasts may be far behind. */
static void call_for_each(
        AldSignals *signals, void (*function)(Audience *audience, void *userdata), void *userdata)
{
        for (guint i = 0; i < signals->subscribers->len; i++)
                function(signals->subscribers->pdata[i], userdata);
        function(signals->everybody, userdata);
}

static Notice *add_notice(Audience *audience, AldEntry *entry)
{
        Notice *notice = g_new0(Notice, 1);

        notice->entry = entry;
        notice->kind = entry->kind;
        notice->known = entry->announced;
        notice->place.data = notice;
        g_hash_table_insert(audience->notices, entry, notice);
        entry->n_awaiting++;
        if (g_queue_is_empty(&audience->waiting))
                ald_timer_set(audience->signals->timer, 0);
        g_queue_push_tail_link(&audience->waiting, &notice->place);
        return notice;
}

static void note_sent(Audience *audience, size_t bytes)
{
        if (audience->name)
                ald_service_directed(audience->signals->service, audience->name, bytes);
        else
                ald_service_broadcast(audience->signals->service, bytes);
}

/* What is to be shown of an object comes at once. */
static int emit_added(Audience *audience, AldEntry *entry, const char *path)
{
        const AldRecord *records[ALD_N_NODE_KINDS + 1] = { entry->record };

        for (unsigned kind = 0, n = 1; !entry->key && kind < ALD_N_NODE_KINDS; kind++) {
                AldEntry *other = &entry->node->entries[kind];
                Notice *notice = g_hash_table_lookup(audience->notices, other);

                if (other == entry || !notice || notice->known || !other->shown)
                        continue;
                records[n++] = other->record;
                note_sent(audience, ald_records_bus_size(other));
                notice_free(audience, notice);
        }
        return ald_record_emit_added(
                ald_service_bus(audience->signals->service), audience->name, ALD_STATE_PATH, path, records);
}

static int emit_hidden(Audience *audience, AldKind kind, const char *path)
{
        const char *interfaces[] = { ald_kinds[kind].interface, NULL };

        return ald_record_emit_removed(ald_service_bus(audience->signals->service), audience->name,
                ALD_STATE_PATH, path, interfaces);
}

static void emit_entry(Audience *audience, Notice *notice)
{
        AldEntry *entry = notice->entry;
        g_autofree char *path = ald_path_of_entry(entry);
        int r = 0;

        if (notice->known && !entry->shown)
                r = emit_hidden(audience, entry->kind, path);
        else if (entry->shown && !notice->known)
                r = emit_added(audience, entry, path);
        else if (entry->shown)
                r = ald_record_emit_changed(ald_service_bus(audience->signals->service), audience->name, path,
                        entry->record,
                        notice->sent ? ald_record_diff(notice->sent, entry->record) : UINT64_MAX);
        if (r < 0)
                g_warning("Failed to send the changes of %s: %s", path, g_strerror(-r));
        note_sent(audience, WIRE_PER_SIGNAL + strlen(path) +
                                    (entry->record ? ald_record_changed_size(entry->record) : 0));
        notice_free(audience, notice);
}

/* All that was forgotten of one object at once goes in one signal. */
static void emit_forgotten(Audience *audience, Notice *notice)
{
        g_autoptr(GPtrArray) interfaces = g_ptr_array_new();
        g_autofree char *path = g_strdup(notice->path);
        int r;

        do {
                g_ptr_array_add(interfaces, (gpointer) ald_kinds[notice->kind].interface);
                notice_free(audience, notice);
                notice = g_queue_peek_head(&audience->waiting);
        } while (notice && g_strcmp0(notice->path, path) == 0);

        g_ptr_array_add(interfaces, NULL);
        r = ald_record_emit_removed(ald_service_bus(audience->signals->service), audience->name,
                ALD_STATE_PATH, path, (const char *const *) interfaces->pdata);
        if (r < 0)
                g_warning("Failed to signal the removal of %s: %s", path, g_strerror(-r));
        note_sent(audience, WIRE_PER_SIGNAL + strlen(path));
}

static void emit_totals(Audience *audience)
{
        AldSignals *signals = audience->signals;
        sd_bus *bus = ald_service_bus(signals->service);
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(
                bus, &signal, ALD_STATE_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged");
        if (r >= 0 && audience->name)
                r = sd_bus_message_set_destination(signal, audience->name);
        if (r >= 0)
                r = ald_totals_bus_append_changed(signal, signals->totals, audience->totals);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        if (r < 0)
                g_warning("Failed to send the changes of the totals: %s", g_strerror(-r));
        audience->totals = 0;
        note_sent(audience, WIRE_OF_TOTALS);
}

static void emit_view(Audience *audience, AldDerivedView view)
{
        static const char *const names[ALD_DERIVED_N] = {
                [ALD_DERIVED_TOPOLOGY] = "TopologyChanged",
                [ALD_DERIVED_FINDINGS] = "FindingsChanged",
        };
        sd_bus *bus = ald_service_bus(audience->signals->service);
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, ALD_STATE_PATH, "org.alidade.State1", names[view]);
        if (r >= 0 && audience->name)
                r = sd_bus_message_set_destination(signal, audience->name);
        if (r >= 0)
                r = sd_bus_message_append(signal, "t", audience->views[view]);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        if (r < 0)
                g_warning("Failed to send the signal %s: %s", names[view], g_strerror(-r));
        audience->views[view] = 0;
        note_sent(audience, WIRE_PER_SIGNAL);
}

/* ALD_DERIVED_N if none waits. */
static AldDerivedView find_waiting_view(const Audience *audience)
{
        AldDerivedView view = 0;

        while (view < ALD_DERIVED_N && audience->views[view] == 0)
                view++;
        return view;
}

static void fill_budget(Audience *audience, gint64 now)
{
        double fill = audience->per_second * (double) (now - audience->filled) / G_USEC_PER_SEC;

        audience->budget = MIN(BURST, audience->budget + fill);
        audience->filled = now;
}

static bool takes_more(Audience *audience)
{
        AldService *service = audience->signals->service;
        uint64_t queued = 0;

        sd_bus_get_n_queued_write(ald_service_bus(service), &queued);
        if (queued >= QUEUE_MAX)
                return false;
        return audience->name ? ald_service_is_reading(service, audience->name)
                              : ald_service_may_broadcast(service);
}

/* What the client leaves unread is unlimited, but what is kept here is not. */
static void note_blocked(Audience *audience, gint64 now)
{
        if (audience->blocked_since == 0)
                audience->blocked_since = now;
        if (audience->behind || now - audience->blocked_since < BEHIND_USEC)
                return;
        audience->behind = true;
        for (GList *l = audience->waiting.head; l; l = l->next)
                g_clear_pointer(&((Notice *) l->data)->sent, ald_record_unref);
}

static bool has_waiting(Audience *audience)
{
        return audience->totals != 0 || find_waiting_view(audience) < ALD_DERIVED_N ||
               !g_queue_is_empty(&audience->waiting);
}

static void emit_next(Audience *audience)
{
        Notice *notice = g_queue_peek_head(&audience->waiting);
        AldDerivedView view = find_waiting_view(audience);

        if (audience->totals != 0)
                emit_totals(audience);
        else if (view < ALD_DERIVED_N)
                emit_view(audience, view);
        else if (notice->entry)
                emit_entry(audience, notice);
        else
                emit_forgotten(audience, notice);
        audience->budget--;
}

typedef struct Flush {
        gint64 now, again;
} Flush;

static void flush_audience(Audience *audience, void *userdata)
{
        Flush *flush = userdata;

        fill_budget(audience, flush->now);
        while (has_waiting(audience) && audience->budget >= 1) {
                if (!takes_more(audience)) {
                        note_blocked(audience, flush->now);
                        flush->again = MIN(flush->again, flush->now + BLOCKED_RETRY_USEC);
                        return;
                }
                audience->blocked_since = 0;
                audience->behind = false;
                emit_next(audience);
        }
        if (has_waiting(audience))
                flush->again = MIN(
                        flush->again, flush->now + (gint64) (G_USEC_PER_SEC / audience->per_second) + 1);
}

static void flush(void *userdata)
{
        AldSignals *signals = userdata;
        Flush all = { g_get_monotonic_time(), ALD_TIMER_NEVER };

        call_for_each(signals, flush_audience, &all);
        ald_timer_set(signals->timer, all.again);
}

typedef struct Change {
        AldEntry *entry;
        AldRecord *before;
} Change;

static void note_change(Audience *audience, void *userdata)
{
        const Change *change = userdata;
        Notice *notice;

        if (g_hash_table_contains(audience->notices, change->entry))
                return;
        notice = add_notice(audience, change->entry);
        if (change->before && !audience->behind && audience->waiting.length <= audience->per_second)
                notice->sent = ald_record_ref(change->before);
}

/* Sent from the main loop rather than at once, so that what one message changed goes out together. */
static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldSignals *signals = userdata;
        Change change = { entry, before };

        /* Under load most records change again before the signal of their last change is sent. */
        if ((entry->announced || entry->shown) && entry->n_awaiting <= signals->subscribers->len)
                call_for_each(signals, note_change, &change);
        entry->announced = entry->shown;
}

static void note_removal(Audience *audience, void *userdata)
{
        AldEntry *entry = userdata;
        Notice *notice = g_hash_table_lookup(audience->notices, entry);

        if (!notice && entry->announced)
                notice = add_notice(audience, entry);
        if (!notice)
                return;
        /* An audience that does not know it yet needs no signal. */
        if (!notice->known) {
                notice_free(audience, notice);
                return;
        }
        g_clear_pointer(&notice->sent, ald_record_unref);
        notice->path = ald_path_of_entry(entry);
        detach(audience, notice);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        call_for_each(userdata, note_removal, entry);
        entry->announced = false;
}

/* Entries that exist before the first client can connect need no signal. */
static void mark_announced(AldStore *store)
{
        for (AldEntry *entry = ald_store_after(store, NULL, 0, NULL); entry;
                entry = ald_store_after(store, &entry->node->id, entry->kind, entry->key))
                entry->announced = entry->shown;
}

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret)
{
        AldSignals *signals = g_new0(AldSignals, 1);

        *ret = signals;
        signals->service = service;
        signals->store = ald_state_manager_store(manager);
        signals->everybody = audience_new(signals, NULL, 0);
        signals->subscribers = g_ptr_array_new_with_free_func(audience_free);
        signals->timer = ald_timer_new("signals", flush, signals);
        mark_announced(signals->store);
        ald_state_manager_watch(manager, on_changed, on_removing, signals);
        return 0;
}

void ald_signals_free(AldSignals *signals)
{
        if (!signals)
                return;
        g_ptr_array_unref(signals->subscribers);
        audience_free(signals->everybody);
        ald_timer_free(signals->timer);
        g_free(signals);
}

static unsigned count_of_user(AldSignals *signals, uid_t uid)
{
        unsigned n = 0;

        for (guint i = 0; i < signals->subscribers->len; i++)
                n += ((Audience *) signals->subscribers->pdata[i])->uid == uid;
        return n;
}

/* Each connection counts by its share of its user, so that all connections of one user count as one. */
static void share_budget(AldSignals *signals)
{
        gint64 now = g_get_monotonic_time();
        double users = 0;

        for (guint i = 0; i < signals->subscribers->len; i++)
                users += 1.0 / count_of_user(signals, ((Audience *) signals->subscribers->pdata[i])->uid);
        for (guint i = 0; i < signals->subscribers->len; i++) {
                Audience *audience = signals->subscribers->pdata[i];

                fill_budget(audience, now);
                audience->per_second = ALD_SIGNALS_PER_SECOND_SUBSCRIBED / users /
                                       count_of_user(signals, audience->uid);
        }
}

static bool find_subscriber(AldSignals *signals, const char *name, guint *ret)
{
        for (guint i = 0; i < signals->subscribers->len; i++)
                if (g_str_equal(((Audience *) signals->subscribers->pdata[i])->name, name)) {
                        *ret = i;
                        return true;
                }
        return false;
}

int ald_signals_subscribe(AldSignals *signals, const char *name, uid_t uid)
{
        guint i;

        if (find_subscriber(signals, name, &i))
                return -EEXIST;
        g_ptr_array_add(signals->subscribers, audience_new(signals, name, uid));
        share_budget(signals);
        return 0;
}

void ald_signals_unsubscribe(AldSignals *signals, const char *name)
{
        guint i;

        if (!find_subscriber(signals, name, &i))
                return;
        g_ptr_array_remove_index(signals->subscribers, i);
        share_budget(signals);
}

static void note_totals(Audience *audience, void *userdata)
{
        audience->totals |= *(const uint32_t *) userdata;
}

void ald_signals_change_totals(AldSignals *signals, const AldTotals *totals, uint32_t properties)
{
        if (properties == 0)
                return;
        signals->totals = totals;
        call_for_each(signals, note_totals, &properties);
        ald_timer_set(signals->timer, 0);
}

typedef struct ViewChange {
        AldDerivedView view;
        uint64_t revision;
} ViewChange;

static void note_view(Audience *audience, void *userdata)
{
        const ViewChange *change = userdata;

        audience->views[change->view] = change->revision;
}

void ald_signals_change_view(AldSignals *signals, AldDerivedView view, uint64_t revision)
{
        ViewChange change = { view, revision };

        call_for_each(signals, note_view, &change);
        ald_timer_set(signals->timer, 0);
}
