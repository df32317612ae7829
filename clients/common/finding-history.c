/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/common/finding-history.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "record/json.h"
#include "state-client/value.h"
#include "state/alerts/silence.h"

#define PAGE_SPACE ((size_t) 64 * 1024 * 1024) /* bytes that a page of events may take */

AldFindingEvent *ald_finding_event_new(const AldHistoryEvent *times, json_t *finding)
{
        AldFindingRow *row = ald_struct_from_json(&ald_finding_row_struct, finding);
        AldFindingEvent *event;

        if (!row)
                return NULL;
        event = g_new(AldFindingEvent, 1);
        event->times = *times;
        event->row = row;
        event->finding = json_incref(finding);
        return event;
}

void ald_finding_event_free(AldFindingEvent *event)
{
        if (!event)
                return;
        g_free(event->row);
        json_decref(event->finding);
        g_free(event);
}

json_t *ald_finding_event_to_json(const AldFindingEvent *event)
{
        json_t *json = ald_struct_to_json(&ald_history_event_struct, &event->times);

        json_object_set(json, "Finding", event->finding);
        return json;
}

static int new_call(sd_bus *bus, const char *method, sd_bus_message **ret)
{
        return sd_bus_message_new_method_call(
                bus, ret, ALD_HISTORY_NAME, ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE, method);
}

static void event_free(void *event)
{
        ald_finding_event_free(event);
}

/* Events */

/* A page of events. */
typedef struct EventPage {
        json_t *times, *findings;
        int more;
} EventPage;

static void event_page_clear(EventPage *page)
{
        json_decref(page->times);
        json_decref(page->findings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EventPage, event_page_clear)

static int read_page(sd_bus_message *reply, EventPage *page)
{
        size_t space = PAGE_SPACE;
        int r = sd_bus_message_has_signature(reply, "aa{sv}aa{sv}b") > 0 ? 0 : -EBADMSG;

        if (r >= 0)
                r = ald_value_read_rows_within(reply, &space, page->times);
        if (r >= 0)
                r = ald_value_read_rows_within(reply, &space, page->findings);
        if (r >= 0)
                r = sd_bus_message_read(reply, "b", &page->more);
        if (r < 0)
                return r;
        return json_array_size(page->times) == json_array_size(page->findings) ? 0 : -EBADMSG;
}

/* Adds the events that no earlier page had. Returns when the last event of the page began, 0 if it has
 * none. */
static uint64_t add_page(AldFindingEventQuery *query, const EventPage *page)
{
        uint64_t last = 0;
        json_t *times;
        size_t i;

        json_array_foreach(page->times, i, times) {
                g_autofree AldHistoryEvent *event = ald_struct_from_json(&ald_history_event_struct, times);
                AldFindingEvent *found;

                if (!event || event->began_usec == ALD_ABSENT_UINT64)
                        continue;
                last = event->began_usec;
                if (g_hash_table_contains(query->seen, &event->event))
                        continue;
                found = ald_finding_event_new(event, json_array_get(page->findings, i));
                if (!found)
                        continue;
                g_ptr_array_add(query->events, found);
                g_hash_table_add(query->seen, &found->times.event);
        }
        return last;
}

void ald_finding_event_query_begin(AldFindingEventQuery *query, uint64_t from_usec, uint64_t to_usec)
{
        ald_finding_event_query_clear(query);
        query->from_usec = from_usec;
        query->to_usec = to_usec;
        query->events = g_ptr_array_new_with_free_func(event_free);
        query->seen = g_hash_table_new(g_int64_hash, g_int64_equal);
}

void ald_finding_event_query_clear(AldFindingEventQuery *query)
{
        g_clear_pointer(&query->seen, g_hash_table_unref);
        g_clear_pointer(&query->events, g_ptr_array_unref);
}

int ald_finding_event_query_make(sd_bus *bus, const void *data, sd_bus_message **ret)
{
        const AldFindingEventQuery *query = data;
        g_autoptr(AldMessage) call = NULL;
        int r = new_call(bus, "GetEvents", &call);

        if (r >= 0)
                r = sd_bus_message_append(call, "tt", query->from_usec, query->to_usec);
        if (r >= 0)
                *ret = g_steal_pointer(&call);
        return r;
}

/* The next page begins where this one ends, so it repeats the events that last longer. */
int ald_finding_event_query_read(
        AldFindingEventQuery *query, sd_bus_message *reply, AldFindingEventsRead *ret)
{
        g_auto(EventPage) page = { json_array(), json_array(), false };
        int r = read_page(reply, &page);
        uint64_t last;

        if (r < 0)
                return r;
        last = add_page(query, &page);
        *ret = !page.more                                         ? ALD_FINDING_EVENTS_ALL
               : last > query->from_usec && last < query->to_usec ? ALD_FINDING_EVENTS_MORE
                                                                  : ALD_FINDING_EVENTS_CUT;
        query->from_usec = last;
        return 0;
}

int ald_finding_events_read(sd_bus *bus, uint64_t from_usec, uint64_t to_usec, GPtrArray **ret,
        bool *ret_complete, sd_bus_error *error)
{
        g_auto(AldFindingEventQuery) query = { 0 };
        AldFindingEventsRead found = ALD_FINDING_EVENTS_MORE;

        ald_finding_event_query_begin(&query, from_usec, to_usec);
        while (found == ALD_FINDING_EVENTS_MORE) {
                g_autoptr(AldMessage) call = NULL, reply = NULL;
                int r = ald_finding_event_query_make(bus, &query, &call);

                if (r >= 0)
                        r = sd_bus_call(bus, call, 0, error, &reply);
                if (r >= 0)
                        r = ald_finding_event_query_read(&query, reply, &found);
                if (r < 0)
                        return r;
        }
        *ret = g_steal_pointer(&query.events);
        *ret_complete = found == ALD_FINDING_EVENTS_ALL;
        return 0;
}

/* Silences */

static GPtrArray *rows_from_json(const AldStruct *type, json_t *json)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);
        json_t *item;
        size_t i;

        json_array_foreach(json, i, item)
                g_ptr_array_add(rows, ald_struct_from_json(type, item));
        return rows;
}

/* `usec` is as for sd_bus_call(); the service is started only if it is 0. */
static int call_for_rows(sd_bus *bus, const char *method, uint64_t usec, const AldStruct *type,
        GPtrArray **ret, json_t *json, sd_bus_error *error)
{
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        int r = new_call(bus, method, &call);

        if (r >= 0)
                r = sd_bus_message_set_auto_start(call, usec == 0);
        if (r >= 0)
                r = sd_bus_call(bus, call, usec, error, &reply);
        if (r >= 0 && sd_bus_message_has_signature(reply, "aa{sv}") <= 0)
                r = -EBADMSG;
        if (r >= 0)
                r = ald_value_read_rows(reply, json);
        if (r >= 0)
                *ret = rows_from_json(type, json);
        return r;
}

int ald_silence_rows_read(sd_bus *bus, GPtrArray **ret, sd_bus_error *error)
{
        json_auto_t *json = json_array();

        return call_for_rows(bus, "GetSilences", 0, &ald_silence_row_struct, ret, json, error);
}

int ald_silence_call_make(sd_bus *bus, const void *data, sd_bus_message **ret)
{
        const AldSilenceCall *silence = data;
        g_autoptr(AldMessage) call = NULL;
        int r = new_call(bus, silence->ends ? "Unsilence" : "Silence", &call);

        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(call, silence->asks);
        if (r >= 0)
                r = sd_bus_message_append(call, "ss", silence->node, silence->peer);
        if (r >= 0 && !silence->ends)
                r = sd_bus_message_append(call, "ts", silence->until_usec, silence->reason);
        if (r >= 0)
                *ret = g_steal_pointer(&call);
        return r;
}

const AldSilenceRow *ald_silence_rows_find(const GPtrArray *silences, const AldFindingRow *finding)
{
        const AldSilenceRow *longest = NULL;

        for (guint i = 0; silences && i < silences->len; i++) {
                const AldSilenceRow *row = silences->pdata[i];

                if (ald_silence_covers(row, finding) && (!longest || row->until_usec > longest->until_usec))
                        longest = row;
        }
        return longest;
}

/* Joining */

/* The findings of a model that come from two services. */
typedef struct JoinedFindings {
        AldFindingRow *items;
        GPtrArray *blocks; /* the rows with their strings */
} JoinedFindings;

static void joined_findings_free(void *data)
{
        JoinedFindings *joined = data;

        g_ptr_array_unref(joined->blocks);
        g_free(joined->items);
        g_free(joined);
}

static void join_findings(AldModel *model, const GPtrArray *slower, json_t *slower_json)
{
        const AldRows *own = ald_model_findings(model);
        JoinedFindings *joined = g_new(JoinedFindings, 1);
        json_auto_t *json = json_copy(ald_model_findings_json(model));
        AldRows rows = { .type = &ald_finding_row_struct, .n = own->n + slower->len };

        joined->blocks = g_ptr_array_new_with_free_func(g_free);
        for (size_t i = 0; i < own->n; i++)
                g_ptr_array_add(joined->blocks, ald_struct_dup(&ald_finding_row_struct, ald_rows_at(own, i)));
        for (guint i = 0; i < slower->len; i++)
                g_ptr_array_add(joined->blocks, ald_struct_dup(&ald_finding_row_struct, slower->pdata[i]));
        json_array_extend(json, slower_json);
        rows.items = joined->items = g_new(AldFindingRow, rows.n);
        for (size_t i = 0; i < rows.n; i++)
                joined->items[i] = *(const AldFindingRow *) joined->blocks->pdata[i];
        ald_model_set_findings(model, &rows, json, joined, joined_findings_free);
}

GPtrArray *ald_finding_history_join(sd_bus *bus, AldModel *model, uint64_t usec)
{
        const gint64 end = g_get_monotonic_time() + (gint64) usec;
        g_autoptr(GPtrArray) slower = NULL;
        GPtrArray *silent = NULL;
        json_auto_t *slower_json = json_array(), *silent_json = json_array();
        int r = call_for_rows(bus, "GetFindings", usec, &ald_finding_row_struct, &slower, slower_json, NULL);

        if (r >= 0) {
                if (slower->len > 0)
                        join_findings(model, slower, slower_json);
                r = call_for_rows(bus, "GetSilences", (uint64_t) MAX(end - g_get_monotonic_time(), 1),
                        &ald_silence_row_struct, &silent, silent_json, NULL);
        }
        if (r == -ETIMEDOUT)
                return NULL;
        return silent ?: g_ptr_array_new_with_free_func(g_free);
}
