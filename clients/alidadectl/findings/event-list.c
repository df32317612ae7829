/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/findings/event-list.h"
#include "clients/alidadectl/history/history-call.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"

/* Without the warning, an empty list would look as if all had been well. */
static void warn_if_off(sd_bus *bus)
{
        g_autofree char *scope = ald_history_call_scope(bus);

        if (g_strcmp0(scope, "off") == 0)
                ald_print_error("The history is switched off: see history= in alidade.conf(5)");
}

int ald_event_list_read(sd_bus *bus, uint64_t from_usec, uint64_t to_usec, GPtrArray **ret)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        bool complete;
        int r = ald_bus_await(bus, ALD_HISTORY_NAME, &error);

        if (r >= 0)
                r = ald_finding_events_read(bus, from_usec, to_usec, ret, &complete, &error);
        if (r < 0) {
                ald_bus_ensure_error(&error, r);
                return ald_bus_print_error(&error, "Cannot read the past findings", ALD_HISTORY_UNIT);
        }
        warn_if_off(bus);
        if (!complete)
                ald_print_error("Too many findings lasted at the same time; some are missing");
        return ALD_EXIT_OK;
}

static int print_as_json(const AldCtl *ctl, const GPtrArray *events)
{
        json_auto_t *object = json_object();
        json_t *list = json_array();

        for (guint i = 0; i < events->len; i++)
                json_array_append_new(list, ald_finding_event_to_json(events->pdata[i]));
        json_object_set_new(object, "Events", list);
        return ald_print_json(ctl, object);
}

/* Says when the history begins if the list reaches back further, since before that an empty list means
 * nothing. Events may be kept for longer than the figures by which the service dates its beginning; the
 * oldest event comes first. */
static void append_beginning(GString *out, sd_bus *bus, uint64_t from_usec, const GPtrArray *events)
{
        uint64_t begins_usec = ald_history_call_beginning(bus);
        const AldFindingEvent *first = events->len > 0 ? events->pdata[0] : NULL;
        g_autofree char *time = ald_event_time(begins_usec);

        if (from_usec < begins_usec && (!first || first->times.began_usec >= begins_usec))
                g_string_append_printf(out, "The history begins at %s.\n", time);
}

static void append_sentences(GString *out, const GArray *rows, unsigned columns)
{
        ald_event_text_append_header(out);
        for (guint i = 0; i < rows->len; i++)
                ald_event_text_append(out, &g_array_index(rows, AldFindingListRow, i), NULL, columns);
}

static int print_as_text(const AldCtl *ctl, const AldColumnChoice *choice, sd_bus *bus, uint64_t from_usec,
        const GPtrArray *events, const GArray *rows)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        if (rows->len == 0)
                g_string_append(out, "No findings in that time.\n");
        else if (ctl->columns)
                ald_column_table_append(out, choice, rows, info.columns);
        else
                append_sentences(out, rows, info.columns);
        append_beginning(out, bus, from_usec, events);
        return ald_print(ctl, &info, out->str);
}

static GArray *make_rows(const GPtrArray *events)
{
        GArray *rows = g_array_sized_new(FALSE, FALSE, sizeof(AldFindingListRow), events->len);

        for (guint i = 0; i < events->len; i++) {
                AldFindingListRow row = ald_event_row(events->pdata[i], (uint64_t) g_get_real_time());

                g_array_append_val(rows, row);
        }
        return rows;
}

int ald_event_list_print(
        const AldCtl *ctl, const AldColumnChoice *choice, uint64_t from_usec, uint64_t to_usec)
{
        g_autoptr(GPtrArray) events = NULL;
        g_autoptr(GArray) rows = NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int r = ald_bus_open(ctl, &bus);

        if (r == ALD_EXIT_OK)
                r = ald_event_list_read(bus, from_usec, to_usec, &events);
        if (r != ALD_EXIT_OK)
                return r;
        rows = make_rows(events);
        r = ald_column_table_sort(ctl, choice->list, rows);
        if (r >= 0)
                return r;
        if (ald_column_table_is_exported(ctl))
                return ald_column_table_export(ctl, "Events", choice, rows);
        return ctl->json ? print_as_json(ctl, events)
                         : print_as_text(ctl, choice, bus, from_usec, events, rows);
}
