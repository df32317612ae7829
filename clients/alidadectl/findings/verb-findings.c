/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/findings/event-list.h"
#include "clients/alidadectl/findings/finding-follow.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/column-table.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/columns/finding-columns.h"
#include "clients/common/time-parse.h"
#include "record/json.h"

typedef struct FindingsOrder {
        AldCtl ctl;
        uint64_t since_usec, until_usec; /* absent: not given */
        bool follow;
        AldColumnChoice columns;
} FindingsOrder;

static void findings_order_clear(FindingsOrder *order)
{
        ald_column_choice_clear(&order->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FindingsOrder, findings_order_clear)

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(TIME, "since", "TIME", FindingsOrder, since_usec,
                "List what was found since then: when it began and ended"),
        ALD_OPTION(TIME, "until", "TIME", FindingsOrder, until_usec,
                "With --since: list only what began before then", .repeated = ALD_REPEATED_TIME_LATER),
        ALD_OPTION(FLAG, "follow", NULL, FindingsOrder, follow,
                "Print each finding that begins or ends, until Ctrl-C", .letter = 'f'),
        ALD_OPTION_COLUMNS(NULL),
        ALD_OPTION_SORT(NULL),
        ALD_OPTION_CSV(NULL),
        ALD_OPTION_JSON("Print JSON: short (as without MODE), pretty or off"),
        ALD_OPTION_HOST("Ask another machine, over ssh"),
        ALD_OPTION_NO_PAGER,
        {},
};

const AldSynopsis ald_findings_synopsis = {
        .usage = "alidadectl findings [OPTION…]",
        .intro = "List what is wrong in the cluster, with remedies; or what was.",
        .outro = "TIME is, for example, " ALD_TIME_EXAMPLES ".",
        .options = options,
};

static json_t *silence_of(const AldStateSession *session, size_t i)
{
        const AldSilenceRow *row = ald_silence_rows_find(
                session->silences, ald_rows_at(ald_model_findings(session->model), i));

        return row ? ald_struct_to_json(&ald_silence_row_struct, row) : NULL;
}

static int print_as_json(const AldCtl *ctl, const AldStateSession *session)
{
        json_auto_t *object = json_object(), *list = json_array();
        json_t *finding;
        size_t i;

        json_array_foreach(ald_model_findings_json(session->model), i, finding) {
                json_t *copy = json_copy(finding), *silence = silence_of(session, i);

                if (silence)
                        json_object_set_new(copy, "Silence", silence);
                json_array_append_new(list, copy);
        }
        json_object_set(object, "Findings", list);
        return ald_print_json(ctl, object);
}

static int print_as_text(const AldCtl *ctl, const AldColumnChoice *columns, const GArray *rows)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        if (rows->len == 0)
                g_string_append(out, "No findings.\n");
        else if (ctl->columns)
                ald_column_table_append(out, columns, rows, info.columns);
        else
                ald_describe_findings(out, rows, info.columns);
        return ald_print(ctl, &info, out->str);
}

/* Prints the present findings. */
static int print_present(const AldCtl *ctl, const AldColumnChoice *columns)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(GArray) rows = NULL;
        int r;

        session.with_history = true;
        r = ald_session_load(&session, ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        rows = ald_finding_list_rows(session.model, NULL, session.silences, ald_event_time);
        r = ald_column_table_sort(ctl, columns->list, rows);
        if (r >= 0)
                return r;
        if (ald_column_table_is_exported(ctl))
                return ald_column_table_export(ctl, "Findings", columns, rows);
        return ctl->json ? print_as_json(ctl, &session) : print_as_text(ctl, columns, rows);
}

static bool is_given(uint64_t usec)
{
        return usec != ALD_ABSENT_UINT64;
}

static int print_past(const FindingsOrder *order)
{
        uint64_t from = is_given(order->since_usec) ? order->since_usec : (uint64_t) g_get_real_time();
        uint64_t to = is_given(order->until_usec) ? order->until_usec : ALD_INTEGER_MAX;

        if (from >= to) {
                ald_print_error("--until must be later than --since");
                return ALD_EXIT_USAGE;
        }
        return order->follow ? ald_finding_follow(&order->ctl, from)
                             : ald_event_list_print(&order->ctl, &order->columns, from, to);
}

#define USUAL_COLUMNS \
        ALD_FINDING_COLUMN_SEVERITY, ALD_FINDING_COLUMN_ID, ALD_FINDING_COLUMN_NODES, ALD_FINDING_COLUMN_TEXT

/* Returns -1 if there is more to do, else an exit code. */
static int choose_columns(FindingsOrder *order)
{
        static const unsigned present[] = { USUAL_COLUMNS };
        static const unsigned past[] = { ALD_FINDING_COLUMN_BEGAN, ALD_FINDING_COLUMN_ENDED,
                ALD_FINDING_COLUMN_LASTED, USUAL_COLUMNS };

        return is_given(order->since_usec) ? ald_column_table_choose(&order->ctl, &ald_finding_column_list,
                                                     past, G_N_ELEMENTS(past), &order->columns)
                                           : ald_column_table_choose(&order->ctl, &ald_finding_column_list,
                                                     present, G_N_ELEMENTS(present), &order->columns);
}

static const char *find_contradiction(const FindingsOrder *order)
{
        const AldCtl *ctl = &order->ctl;

        if (is_given(order->until_usec) && order->follow)
                return "--until and --follow cannot be combined";
        if (is_given(order->until_usec) && !is_given(order->since_usec))
                return "--until needs --since";
        if (order->follow && (ctl->columns || ctl->sort || ctl->csv))
                return "--follow prints no table, so that --columns, --sort and --csv do not work with it";
        return ctl->csv && ctl->json ? "--json and --csv exclude each other" : NULL;
}

int ald_verb_findings(const AldCtl *ctl)
{
        g_auto(FindingsOrder)
                order = { .ctl = *ctl, .since_usec = ALD_ABSENT_UINT64, .until_usec = ALD_ABSENT_UINT64 };
        const char *contradiction;
        g_autofree char **words = NULL;
        int r = ald_options_read(&ald_findings_synopsis, &order, &words);

        if (r >= 0)
                return r;
        if (words[0])
                return ald_options_print_usage(&ald_findings_synopsis);
        contradiction = find_contradiction(&order);
        if (contradiction) {
                ald_print_error("%s", contradiction);
                return ALD_EXIT_USAGE;
        }
        r = choose_columns(&order);
        if (r >= 0)
                return r;
        return is_given(order.since_usec) || order.follow ? print_past(&order)
                                                          : print_present(&order.ctl, &order.columns);
}
