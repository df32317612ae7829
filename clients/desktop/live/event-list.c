/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>

#include "clients/desktop/actions/bus-error-words.h"
#include "clients/desktop/live/event-list.h"
#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/live/held-rows.h"
#include "clients/desktop/live/item-list.h"
#include "common/bus-names.h"

struct AldEventList {
        AldLiveCluster *cluster;
        AldItemList *items;
        AldHistoryCall *call;
        char *failure;
        bool is_cut;
        AldEventListRead was_read;
        void *userdata;
};

/* An event with its finding. */
typedef struct EventSource {
        const AldHistoryEvent *event;
        const AldFindingRow *row;
} EventSource;

static gpointer make_event(const void *data, void *userdata)
{
        const EventSource *source = data;
        AldFindingItem *item = ald_finding_item_new(source->row, userdata);

        ald_finding_item_set_period(item, source->event->began_usec, source->event->ended_usec);
        return item;
}

static char *key_of_event(const void *data)
{
        return g_strdup_printf("%" G_GUINT64_FORMAT, ((const EventSource *) data)->event->event);
}

static void update_event(gpointer item, const void *data, void *userdata)
{
        const EventSource *source = data;

        ald_finding_item_set_period(item, source->event->began_usec, source->event->ended_usec);
        ald_finding_item_update(item, source->row, userdata);
}

static const AldItemListType event_list = { make_event, key_of_event, update_event };

static void take(AldEventList *list, const AldRows *events, const AldRows *findings)
{
        g_autofree EventSource *sources = g_new(EventSource, events->n);
        g_autoptr(GPtrArray) newest_first = g_ptr_array_new();

        for (size_t i = events->n; i-- > 0;) {
                sources[i] = (EventSource){ ald_rows_at(events, i), ald_rows_at(findings, i) };
                g_ptr_array_add(newest_first, &sources[i]);
        }
        ald_item_list_update(list->items, newest_first, ald_live_cluster_model(list->cluster));
}

static int read_events(AldEventList *list, sd_bus_message *reply)
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
        list->is_cut = more;
        take(list, &events.rows, &findings.rows);
        return 0;
}

static void on_events(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        static const sd_bus_error unreadable = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply cannot be read");
        AldEventList *list = userdata;
        g_autofree char *why = NULL;

        list->call = NULL;
        if (error && sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED))
                return; /* what was read before stays, as in all of the window */
        g_clear_pointer(&list->failure, g_free);
        if (reply && read_events(list, reply) < 0)
                error = &unreadable;
        if (error) {
                g_autoptr(GPtrArray) none = g_ptr_array_new();

                why = ald_bus_error_words(error, ALD_HISTORY_UNIT);
                list->failure = g_strdup_printf(_("The history cannot be read: %s"), why);
                ald_item_list_update(list->items, none, NULL);
        }
        list->was_read(list->userdata);
}

bool ald_event_list_read(AldEventList *list, guint64 usec)
{
        guint64 now = (guint64) g_get_real_time();

        ald_event_list_stop(list);
        list->call = ald_history_call_new(
                ald_live_cluster_history(list->cluster), "GetEvents", on_events, list, "tt", now - usec, now);
        return list->call != NULL;
}

void ald_event_list_stop(AldEventList *list)
{
        g_clear_pointer(&list->call, ald_history_call_free);
}

AldEventList *ald_event_list_new(AldLiveCluster *cluster, AldEventListRead was_read, void *userdata)
{
        AldEventList *list = g_new0(AldEventList, 1);

        list->cluster = g_object_ref(cluster);
        list->items = ald_item_list_new(ALD_TYPE_FINDING_ITEM, &event_list);
        list->was_read = was_read;
        list->userdata = userdata;
        return list;
}

void ald_event_list_free(AldEventList *list)
{
        if (!list)
                return;
        ald_event_list_stop(list);
        ald_item_list_free(list->items);
        g_object_unref(list->cluster);
        g_free(list->failure);
        g_free(list);
}

GListModel *ald_event_list_model(AldEventList *list)
{
        return ald_item_list_model(list->items);
}

const char *ald_event_list_failure(AldEventList *list)
{
        return list->failure;
}

bool ald_event_list_is_cut(AldEventList *list)
{
        return list->is_cut;
}
