/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>

#include "clients/alidadectl/history/history-call.h"
#include "clients/alidadectl/history/history-export.h"
#include "clients/alidadectl/history/history-text.h"
#include "clients/alidadectl/history/series-choice.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/column-table.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/columns/series-columns.h"
#include "clients/common/finding-display.h"
#include "clients/common/node-summary.h"
#include "clients/common/time-parse.h"

#define HOUR_USEC (UINT64_C(3600) * 1000 * 1000)
#define DAY_USEC (24 * HOUR_USEC)
#define POINTS_MAX 10000u

typedef struct HistoryOrder {
        AldCtl ctl;
        uint64_t since_usec; /* absent: not given */
        uint64_t until_usec;
        uint64_t points; /* 0: not given */
        char **words;    /* NODE, optionally PEER, and names of figures */
        AldColumnChoice columns;
} HistoryOrder;

static void history_order_clear(HistoryOrder *order)
{
        ald_column_choice_clear(&order->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HistoryOrder, history_order_clear)

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(TIME, "since", "TIME", HistoryOrder, since_usec,
                "The beginning (default: an hour before the end; of links, a day)"),
        ALD_OPTION(TIME, "until", "TIME", HistoryOrder, until_usec, "The end (default: now)",
                .repeated = ALD_REPEATED_TIME_LATER),
        ALD_OPTION_CSV(NULL),
        ALD_OPTION(NUMBER, "points", "N", HistoryOrder, points,
                "With --json or --csv: the greatest number of points of a figure\n(default: 1000)",
                .max = POINTS_MAX),
        ALD_OPTION_COLUMNS(NULL),
        ALD_OPTION_SORT(NULL),
        ALD_OPTION_HOST("Ask another machine, over ssh"),
        ALD_OPTION_JSON("Print JSON: short (as without MODE), pretty or off"),
        ALD_OPTION_NO_PAGER,
        {},
};

const AldSynopsis ald_history_synopsis = {
        .usage = "alidadectl history NODE [PEER] [FIGURE…] [--since=TIME] [--until=TIME] [--json | --csv]",
        .intro = "Show figures of a node, or of the links between two nodes, over time, and the findings "
                 "about "
                 "them.\n\n"
                 "A FIGURE is a field, such as AvailableBytes, Devices[cpu].GemmTflops or RttP50NSec.",
        .outro = "TIME is, for example, " ALD_TIME_EXAMPLES ".",
        .options = options,
};

static int check_order(const HistoryOrder *order)
{
        if (!order->words[0])
                return ald_options_print_usage(&ald_history_synopsis);
        if (order->ctl.csv && order->ctl.json)
                ald_print_error("--json and --csv exclude each other");
        else if (order->points && !order->ctl.csv && !order->ctl.json)
                ald_print_error("--points needs --json or --csv");
        else
                return ALD_EXIT_OK;
        return ALD_EXIT_USAGE;
}

/* The default depends on the subject: links are measured rarely. */
static int read_range(const HistoryOrder *order, AldHistoryView *view)
{
        uint64_t span = view->peer ? DAY_USEC : HOUR_USEC;

        view->to_usec = order->until_usec;
        view->from_usec = order->since_usec != ALD_ABSENT_UINT64 ? order->since_usec
                                                                 : view->to_usec - MIN(view->to_usec, span);
        if (view->from_usec < view->to_usec)
                return ALD_EXIT_OK;
        ald_print_error("--since must be earlier than --until, which is now unless it is given");
        return ALD_EXIT_USAGE;
}

/* Finds the node, and the peer if the second word is the name of a node. */
static int find_nodes(const HistoryOrder *order, AldStateSession *session, AldHistoryView *view)
{
        const char *second = order->words[1];
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        const AldEntity *found;
        int r = ald_session_find_node(session, order->words[0], &view->node);

        if (r != ALD_EXIT_OK || !second ||
                ald_model_find(session->model, second, &found, candidates) == -ENOENT)
                return r;
        r = ald_session_find_node(session, second, &view->peer);
        if (r == ALD_EXIT_OK && view->node == view->peer) {
                ald_print_error("A link joins two different nodes");
                return ALD_EXIT_USAGE;
        }
        return r;
}

static int report_missing_links(const AldHistoryView *view)
{
        g_autofree char *node = ald_entity_label(view->node), *peer = ald_entity_label(view->peer);

        ald_print_error("No link between %s and %s has been measured", node, peer);
        return ALD_EXIT_ERROR;
}

static int choose_series(const HistoryOrder *order, AldHistoryView *view)
{
        const char *const *names = (const char *const *) order->words + (view->peer ? 2 : 1);
        g_autofree char *problem = NULL;
        int r = 0;

        if (*names)
                r = ald_series_choose(
                        view->model, view->node, view->peer, names, ald_now(), &view->series, &problem);
        else if (view->peer)
                view->series = ald_shown_series_of_links(view->model, view->node, view->peer, ald_now());
        else
                view->series = ald_shown_series_of_node(view->node);
        if (r == -ENXIO || (view->peer && r >= 0 && view->series->len == 0))
                return report_missing_links(view);
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_print_error("%s", problem);
        return ALD_EXIT_USAGE;
}

static int report_failed_call(const sd_bus_error *error, int r)
{
        g_auto(sd_bus_error) copy = SD_BUS_ERROR_NULL;

        (void) sd_bus_error_copy(&copy, error);
        ald_bus_ensure_error(&copy, r);
        return ald_bus_print_error(&copy, "Cannot read the history from " ALD_HISTORY_UNIT, ALD_HISTORY_UNIT);
}

/* Reports why none of the series is kept. */
static int report_missing_history(sd_bus *bus, const AldHistoryView *view)
{
        g_autofree char *scope = ald_history_call_scope(bus), *name = ald_entity_label(view->node);

        if (g_strcmp0(scope, "off") == 0)
                ald_print_error("No history is recorded: history= in alidade.conf is off");
        else if (g_strcmp0(scope, "local") == 0)
                ald_print_error(
                        "alidade-historyd records only its own machine and the links from and to it (see "
                        "history= in alidade.conf(5)); use -H to ask %s itself",
                        name);
        else
                ald_print_error(ALD_HISTORY_UNIT " has recorded nothing of %s yet", name);
        return ALD_EXIT_ERROR;
}

/* Reads the points; drops series that are not kept, or need not be shown. */
static int read_series(const HistoryOrder *order, sd_bus *bus, AldHistoryView *view)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        unsigned points = order->points ? (unsigned) order->points : ALD_SHOWN_POINTS;
        int r = ald_history_call_series(bus, view->series, view->from_usec, view->to_usec, points, &error);
        bool kept = false;

        if (r < 0)
                return report_failed_call(&error, r);
        for (guint i = 0; i < view->series->len; i++) {
                const AldShownSeries *series = view->series->pdata[i];

                kept |= series->points != NULL;
                if (!series->points || (series->optional && series->points->len == 0))
                        g_ptr_array_remove_index(view->series, i--);
        }
        return kept ? ALD_EXIT_OK : report_missing_history(bus, view);
}

/* Keeps only the events about the node, or about both nodes. */
static int read_events(sd_bus *bus, AldHistoryView *view, sd_bus_error *error)
{
        bool complete;
        int r = ald_finding_events_read(bus, view->from_usec, view->to_usec, &view->events, &complete, error);

        if (r < 0)
                return r;
        for (guint i = 0; i < view->events->len; i++) {
                const AldFindingEvent *event = view->events->pdata[i];

                if (!ald_finding_is_about(event->row, view->node->id) ||
                        (view->peer && !ald_finding_is_about(event->row, view->peer->id)))
                        g_ptr_array_remove_index(view->events, i--);
        }
        if (!complete)
                ald_print_error("Too many findings lasted at the same time; some are missing");
        return 0;
}

static int read_history(const HistoryOrder *order, AldHistoryView *view)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int r = ald_bus_open(&order->ctl, &bus);

        if (r != ALD_EXIT_OK)
                return r;
        r = ald_bus_await(bus, ALD_HISTORY_NAME, &error);
        if (r < 0)
                return report_failed_call(&error, r);
        r = read_series(order, bus, view);
        if (r != ALD_EXIT_OK)
                return r;
        view->begins_usec = ald_history_call_beginning(bus);
        r = read_events(bus, view, &error);
        return r < 0 ? report_failed_call(&error, r) : ALD_EXIT_OK;
}

/* Returns -1 if there is more to do, else an exit code. */
static int choose_columns(HistoryOrder *order)
{
        static const unsigned usual[] = { ALD_SERIES_COLUMN_FIGURE, ALD_SERIES_COLUMN_OF,
                ALD_SERIES_COLUMN_MIN, ALD_SERIES_COLUMN_MEAN, ALD_SERIES_COLUMN_MAX,
                ALD_SERIES_COLUMN_LAST };

        return ald_column_table_choose(
                &order->ctl, &ald_series_column_list, usual, G_N_ELEMENTS(usual), &order->columns);
}

static int print_table(const HistoryOrder *order, const AldHistoryView *view)
{
        const uint64_t now_usec = (uint64_t) ald_now();
        g_autoptr(GArray) rows = ald_history_rows(view, now_usec);
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        int r = ald_column_table_sort(&order->ctl, &ald_series_column_list, rows);

        if (r >= 0)
                return r;
        if (ald_column_table_is_exported(&order->ctl))
                return ald_column_table_export(&order->ctl, "Series", &order->columns, rows);
        if (rows->len == 0)
                ald_history_describe(out, view, info.columns, now_usec);
        else
                ald_column_table_append(out, &order->columns, rows, info.columns);
        return ald_print(&order->ctl, &info, out->str);
}

static int print_view(const HistoryOrder *order, const AldHistoryView *view)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info;

        if (order->ctl.columns || order->ctl.sort)
                return print_table(order, view);
        if (order->ctl.json) {
                json_auto_t *object = ald_history_to_json(view);

                return ald_print_json(&order->ctl, object);
        }
        if (order->ctl.csv) {
                ald_history_append_csv(out, view);
                fputs(out->str, stdout);
                return ald_print_finish();
        }
        info = ald_style_info();
        ald_history_describe(out, view, info.columns, (uint64_t) ald_now());
        return ald_print(&order->ctl, &info, out->str);
}

int ald_verb_history(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_auto(HistoryOrder)
                order = { .ctl = *ctl, .since_usec = ALD_ABSENT_UINT64, .until_usec = (uint64_t) ald_now() };
        g_autofree char **words = NULL;
        AldHistoryView view = { .series = NULL };
        int r = ald_options_read(&ald_history_synopsis, &order, &words);

        if (r >= 0)
                return r;
        order.words = words;
        r = choose_columns(&order);
        if (r >= 0)
                return r;
        r = check_order(&order);
        if (r == ALD_EXIT_OK)
                r = read_range(&order, &view);
        if (r == ALD_EXIT_OK)
                r = ald_session_load(&session, &order.ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        view.model = session.model;
        r = find_nodes(&order, &session, &view);
        if (r == ALD_EXIT_OK)
                r = read_range(&order, &view);
        if (r == ALD_EXIT_OK)
                r = choose_series(&order, &view);
        if (r == ALD_EXIT_OK)
                r = read_history(&order, &view);
        if (r == ALD_EXIT_OK)
                r = print_view(&order, &view);
        g_clear_pointer(&view.series, g_ptr_array_unref);
        g_clear_pointer(&view.events, g_ptr_array_unref);
        return r;
}
