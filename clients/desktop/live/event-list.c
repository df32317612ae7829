/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>

#include "clients/desktop/actions/bus-error-words.h"
#include "clients/desktop/live/event-list.h"
#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/live/held-rows.h"
#include "clients/desktop/live/item-list.h"
#include "common/bus-names.h"

/* 10,000 of them: a user looks for the newest, and they are read again each minute. */
#define PAGES_MAX 5u

struct AldEventList {
        AldLiveCluster *cluster;
        AldItemList *items;
        AldHistoryCall *call;
        uint64_t from, to; /* of the page that is called for */
        guint n_pages;     /* of the reading, this one included */
        GPtrArray *events; /* ReadEvent, of the pages before; NULL while none is called for */
        GHashTable *seen;  /* numbers of these */
        char *failure;
        bool is_read, is_cut;
        AldEventListChanged changed;
        void *userdata;
};

/* An event with its finding. */
typedef struct ReadEvent {
        AldHistoryEvent event;
        AldFindingRow *row;
} ReadEvent;

static void read_event_free(gpointer data)
{
        ReadEvent *read = data;

        g_free(read->row);
        g_free(read);
}

static gpointer make_event(const void *data, void *userdata)
{
        const ReadEvent *read = data;
        AldFindingItem *item = ald_finding_item_new(read->row, userdata);

        ald_finding_item_set_period(item, read->event.began_usec, read->event.ended_usec);
        return item;
}

static char *key_of_event(const void *data)
{
        return g_strdup_printf("%" G_GUINT64_FORMAT, ((const ReadEvent *) data)->event.event);
}

static void update_event(gpointer item, const void *data, void *userdata)
{
        const ReadEvent *read = data;

        ald_finding_item_set_period(item, read->event.began_usec, read->event.ended_usec);
        ald_finding_item_update(item, read->row, userdata);
}

static const AldItemListType event_list = { make_event, key_of_event, update_event };

/* Reading. */

static void stop(AldEventList *list)
{
        g_clear_pointer(&list->call, ald_history_call_free);
        g_clear_pointer(&list->seen, g_hash_table_unref);
        g_clear_pointer(&list->events, g_ptr_array_unref);
}

static void show(AldEventList *list, const GPtrArray *events)
{
        g_autoptr(GPtrArray) newest_first = g_ptr_array_new();

        for (guint i = events->len; i-- > 0;)
                g_ptr_array_add(newest_first, events->pdata[i]);
        ald_item_list_update(list->items, newest_first, ald_live_cluster_model(list->cluster));
}

/* Adds those that no earlier page had. Returns when the last one began, 0 if there is none. */
static uint64_t take(AldEventList *list, const AldRows *events, const AldRows *findings)
{
        uint64_t last = 0;

        for (size_t i = 0; i < events->n; i++) {
                const AldHistoryEvent *event = ald_rows_at(events, i);
                ReadEvent *read;

                if (event->began_usec == ALD_ABSENT_UINT64)
                        continue;
                last = event->began_usec;
                if (g_hash_table_contains(list->seen, &event->event))
                        continue;
                read = g_new(ReadEvent, 1);
                *read = (ReadEvent){ *event,
                        ald_struct_dup(&ald_finding_row_struct, ald_rows_at(findings, i)) };
                g_ptr_array_add(list->events, read);
                g_hash_table_add(list->seen, &read->event.event);
        }
        return last;
}

static int read_page(AldEventList *list, sd_bus_message *reply, uint64_t *ret_last)
{
        g_auto(AldHeldRows) events = { 0 }, findings = { 0 };
        int more, r;

        r = ald_held_rows_read(reply, &ald_history_event_struct, &events);
        if (r >= 0)
                r = ald_held_rows_read(reply, &ald_finding_row_struct, &findings);
        if (r >= 0)
                r = sd_bus_message_read(reply, "b", &more);
        if (r >= 0 && events.rows.n != findings.rows.n)
                r = -EBADMSG;
        if (r < 0)
                return r;
        *ret_last = take(list, &events.rows, &findings.rows);
        return more;
}

void ald_event_list_clear(AldEventList *list)
{
        g_autoptr(GPtrArray) none = g_ptr_array_new();

        stop(list);
        g_clear_pointer(&list->failure, g_free);
        list->is_read = list->is_cut = false;
        show(list, none);
}

static void fail(AldEventList *list, const sd_bus_error *error)
{
        g_autofree char *why = ald_bus_error_words(error, ALD_HISTORY_UNIT);

        ald_event_list_clear(list);
        list->is_read = true;
        list->failure = g_strdup_printf(_("The history cannot be read: %s"), why);
        list->changed(list->userdata);
}

static void finish(AldEventList *list, bool more)
{
        g_clear_pointer(&list->failure, g_free);
        list->is_read = true;
        list->is_cut = more;
        show(list, list->events);
        stop(list);
        list->changed(list->userdata);
}

static bool call_for_page(AldEventList *list);

/* The next page begins where this one ends, and so repeats what lasts longer. */
static void on_events(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        static const sd_bus_error unreadable = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply cannot be read");
        AldEventList *list = userdata;
        uint64_t last = 0;
        int more = 0;

        list->call = NULL;
        if (error && sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED)) {
                stop(list); /* what was read before stays, as in all of the window */
                list->changed(list->userdata);
                return;
        }
        if (reply)
                more = read_page(list, reply, &last);
        if (error || more < 0) {
                fail(list, error ?: &unreadable);
                return;
        }
        if (!more || last <= list->from || last >= list->to || list->n_pages == PAGES_MAX) {
                finish(list, more);
                return;
        }
        list->from = last;
        (void) call_for_page(list);
}

static bool call_for_page(AldEventList *list)
{
        list->n_pages++;
        list->call = ald_history_call_new(ald_live_cluster_history(list->cluster), "GetEvents", on_events,
                list, "tt", list->from, list->to);
        if (!list->call)
                stop(list);
        return list->call != NULL;
}

bool ald_event_list_read(AldEventList *list, guint64 usec)
{
        stop(list);
        list->to = (guint64) g_get_real_time();
        list->from = list->to - usec;
        list->n_pages = 0;
        list->events = g_ptr_array_new_with_free_func(read_event_free);
        list->seen = g_hash_table_new(g_int64_hash, g_int64_equal);
        return call_for_page(list);
}

/* The list. */

AldEventList *ald_event_list_new(AldLiveCluster *cluster, AldEventListChanged changed, void *userdata)
{
        AldEventList *list = g_new0(AldEventList, 1);

        list->cluster = g_object_ref(cluster);
        list->items = ald_item_list_new(ALD_TYPE_FINDING_ITEM, &event_list);
        list->changed = changed;
        list->userdata = userdata;
        return list;
}

void ald_event_list_free(AldEventList *list)
{
        if (!list)
                return;
        stop(list);
        ald_item_list_free(list->items);
        g_object_unref(list->cluster);
        g_free(list->failure);
        g_free(list);
}

GListModel *ald_event_list_model(AldEventList *list)
{
        return ald_item_list_model(list->items);
}

bool ald_event_list_is_read(AldEventList *list)
{
        return list->is_read;
}

const char *ald_event_list_failure(AldEventList *list)
{
        return list->failure;
}

bool ald_event_list_is_cut(AldEventList *list)
{
        return list->is_cut;
}
