/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>

#include "clients/common/finding-history.h"
#include "clients/desktop/live/bus-error-words.h"
#include "clients/desktop/live/event-items.h"
#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/live/item-list.h"
#include "common/bus-names.h"

/* The limit is 10,000 events: a user looks for the newest, and all are read again each minute. */
#define PAGES_MAX 5u

struct AldEventList {
        AldLiveCluster *cluster;
        AldItemList *items;
        AldHistoryCall *call;
        AldFindingEventQuery query; /* empty while no page is requested */
        guint n_pages;              /* of the present reading, including the requested one */
        char *failure;
        bool is_read, is_cut;
        AldEventListChanged changed;
        void *userdata;
};

static gpointer make_event(const void *data, void *userdata)
{
        const AldFindingEvent *read = data;
        AldFindingItem *item = ald_finding_item_new(read->row, userdata);

        ald_finding_item_set_period(item, read->times.began_usec, read->times.ended_usec);
        return item;
}

static char *key_of_event(const void *data)
{
        return g_strdup_printf("%" G_GUINT64_FORMAT, ((const AldFindingEvent *) data)->times.event);
}

static void update_event(gpointer item, const void *data, void *userdata)
{
        const AldFindingEvent *read = data;

        ald_finding_item_set_period(item, read->times.began_usec, read->times.ended_usec);
        ald_finding_item_update(item, read->row, userdata);
}

static const AldItemListType event_list = { make_event, key_of_event, update_event };

/* Reading. */

static void cancel_reading(AldEventList *list)
{
        g_clear_pointer(&list->call, ald_history_call_free);
        ald_finding_event_query_clear(&list->query);
}

static void show_events(AldEventList *list, const GPtrArray *events)
{
        g_autoptr(GPtrArray) newest_first = g_ptr_array_new();

        for (guint i = events->len; i-- > 0;)
                g_ptr_array_add(newest_first, events->pdata[i]);
        ald_item_list_update(list->items, newest_first, ald_live_cluster_model(list->cluster));
}

void ald_event_list_clear(AldEventList *list)
{
        g_autoptr(GPtrArray) none = g_ptr_array_new();

        cancel_reading(list);
        g_clear_pointer(&list->failure, g_free);
        list->is_read = list->is_cut = false;
        show_events(list, none);
}

static void report_failure(AldEventList *list, const sd_bus_error *error)
{
        g_autofree char *why = ald_bus_error_words(error, ALD_HISTORY_UNIT);

        ald_event_list_clear(list);
        list->is_read = true;
        list->failure = g_strdup_printf(_("The history cannot be read: %s"), why);
        list->changed(list->userdata);
}

static void finish_reading(AldEventList *list, bool more)
{
        g_clear_pointer(&list->failure, g_free);
        list->is_read = true;
        list->is_cut = more;
        show_events(list, list->query.events);
        cancel_reading(list);
        list->changed(list->userdata);
}

static bool request_page(AldEventList *list);

static void on_events(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        static const sd_bus_error unreadable = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply cannot be read");
        AldFindingEventsRead found = ALD_FINDING_EVENTS_ALL;
        AldEventList *list = userdata;

        list->call = NULL;
        if (error && sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED)) {
                /* The events that were read before stay, like everything else in the window. */
                cancel_reading(list);
                list->changed(list->userdata);
                return;
        }
        if (reply && ald_finding_event_query_read(&list->query, reply, &found) < 0)
                error = &unreadable;
        if (error)
                report_failure(list, error);
        else if (found == ALD_FINDING_EVENTS_MORE && list->n_pages < PAGES_MAX)
                (void) request_page(list);
        else
                finish_reading(list, found != ALD_FINDING_EVENTS_ALL);
}

static bool request_page(AldEventList *list)
{
        list->n_pages++;
        list->call = ald_history_call_new(ald_live_cluster_history(list->cluster),
                ald_finding_event_query_make, &list->query, on_events, list);
        if (!list->call)
                cancel_reading(list);
        return list->call != NULL;
}

bool ald_event_list_read(AldEventList *list, guint64 usec)
{
        const guint64 now = (guint64) g_get_real_time();

        cancel_reading(list);
        ald_finding_event_query_begin(&list->query, now - usec, now);
        list->n_pages = 0;
        return request_page(list);
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
        cancel_reading(list);
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

bool ald_event_list_is_truncated(AldEventList *list)
{
        return list->is_cut;
}
