/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/agent.h"
#include "clients/alidadectl/findings/silence-table.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/finding-history.h"
#include "clients/common/node-summary.h"
#include "record/id.h"
#include "record/json.h"

#define REASON_MAX 256u /* bytes; the limit of the service */

typedef struct SilenceOrder {
        AldCtl ctl;
        bool ends;              /* unsilence, instead of silence */
        uint64_t duration_usec; /* absent: not given */
        const char *reason;
        char **nodes; /* as typed: none, one or two */
        uint64_t until_usec;
        char *ids[2]; /* of the nodes; "" for a peer that was not given */
} SilenceOrder;

static void silence_order_clear(SilenceOrder *order)
{
        g_free(order->ids[0]);
        g_free(order->ids[1]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SilenceOrder, silence_order_clear)

static const AldOption silence_options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(DURATION, "for", "DURATION", SilenceOrder, duration_usec,
                "How long, such as 2h (default: until alidadectl unsilence)"),
        ALD_OPTION(TEXT, "reason", "TEXT", SilenceOrder, reason, "Why"),
        ALD_OPTION_JSON("Print the list as JSON: short, pretty or off"),
        ALD_OPTION_HOST("Ask another machine, over ssh"),
        ALD_OPTION_NO_ASK_PASSWORD,
        {},
};

const AldSynopsis ald_silence_synopsis = {
        .usage = "alidadectl silence [OPTION…] NODE [PEER]\nalidadectl silence [--json]",
        .intro = "Stop notices about a node, or about its links to another one. Without NODE: list what "
                 "is silent.",
        .options = silence_options,
};

static const AldOption unsilence_options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION_HOST("Ask another machine, over ssh"),
        ALD_OPTION_NO_ASK_PASSWORD,
        {},
};

const AldSynopsis ald_unsilence_synopsis = {
        .usage = "alidadectl unsilence [OPTION…] NODE [PEER]",
        .intro = "Report findings about a node, or about its links to another one, again.",
        .options = unsilence_options,
};

static const AldSynopsis *synopsis_of(const SilenceOrder *order)
{
        return order->ends ? &ald_unsilence_synopsis : &ald_silence_synopsis;
}

static int check_order(SilenceOrder *order)
{
        guint n = g_strv_length(order->nodes);
        bool has_duration = order->duration_usec != ALD_ABSENT_UINT64;

        if (n > 2 || (n == 0 && order->ends))
                return ald_options_print_usage(synopsis_of(order));
        order->until_usec = has_duration ? (uint64_t) g_get_real_time() + order->duration_usec
                                         : ALD_ABSENT_UINT64;
        if (n == 0 && (has_duration || order->reason))
                ald_print_error("--for and --reason need a node");
        else if (n > 0 && order->ctl.json)
                ald_print_error("--json only lists what is silent");
        else if (order->reason && strlen(order->reason) > REASON_MAX)
                ald_print_error("The reason is longer than %u bytes", REASON_MAX);
        else
                return ALD_EXIT_OK;
        return ALD_EXIT_USAGE;
}

/* Listing */

static int print_list(const SilenceOrder *order, AldModel *model, const GPtrArray *rows)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        json_auto_t *object = json_object();
        json_t *list = json_array();

        for (guint i = 0; i < rows->len; i++)
                json_array_append_new(list, ald_struct_to_json(&ald_silence_row_struct, rows->pdata[i]));
        json_object_set_new(object, "Silences", list);
        if (order->ctl.json)
                return ald_print_json(&order->ctl, object);
        if (rows->len == 0)
                return ald_print(&order->ctl, &info, "Nothing is silent.\n");
        ald_silence_table_append(out, rows, model, !order->ctl.host, info.columns);
        return ald_print(&order->ctl, &info, out->str);
}

static int read_rows(sd_bus *bus, GPtrArray **ret)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = ald_bus_await(bus, ALD_HISTORY_NAME, &error);

        if (r >= 0)
                r = ald_silence_rows_read(bus, ret, &error);
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_bus_ensure_error(&error, r);
        return ald_bus_print_error(&error, "Cannot list what is silent", ALD_HISTORY_UNIT);
}

static int list_silences(const SilenceOrder *order, sd_bus *bus, AldModel *model)
{
        g_autoptr(GPtrArray) rows = NULL;
        int r = read_rows(bus, &rows);

        return r == ALD_EXIT_OK ? print_list(order, model, rows) : r;
}

/* Silencing */

/* Matches the name as the list shows it, or more digits of the id. */
static bool is_called(AldModel *model, const char *id, const char *word)
{
        g_autofree char *name = ald_node_name(model, id);

        return g_strcmp0(name, word) == 0 ||
               (id && strlen(word) >= ALD_SHORT_ID_DIGITS && g_str_has_prefix(id, word));
}

/* Returns the only node of a silence that has this name; NULL if there is none, or several. A silence may
 * outlive its node, so any valid id is accepted. */
static const char *find_silent(const GPtrArray *silences, AldModel *model, const char *word)
{
        const char *found = NULL;

        if (ald_is_node_id(word))
                return word;
        for (guint i = 0; i < silences->len; i++) {
                const AldSilenceRow *row = silences->pdata[i];
                const char *const ids[] = { row->node, row->peer };

                for (size_t k = 0; k < G_N_ELEMENTS(ids); k++) {
                        if (!is_called(model, ids[k], word))
                                continue;
                        if (found && strcmp(found, ids[k]) != 0)
                                return NULL;
                        found = ids[k];
                }
        }
        return found;
}

static int find_id(AldStateSession *session, const GPtrArray *silences, const char *word, char **ret)
{
        const char *silent = silences ? find_silent(silences, session->model, word) : NULL;
        const AldEntity *node;
        int r;

        if (silent) {
                *ret = g_strdup(silent);
                return ALD_EXIT_OK;
        }
        r = ald_session_find_node(session, word, &node);
        if (r == ALD_EXIT_OK)
                *ret = g_strdup(node->id);
        return r;
}

static int find_ids(SilenceOrder *order, AldStateSession *session, sd_bus *bus)
{
        g_autoptr(GPtrArray) silences = NULL;
        int r = order->ends ? read_rows(bus, &silences) : ALD_EXIT_OK;

        if (r == ALD_EXIT_OK)
                r = find_id(session, silences, order->nodes[0], &order->ids[0]);
        if (r == ALD_EXIT_OK && order->nodes[1])
                r = find_id(session, silences, order->nodes[1], &order->ids[1]);
        if (r != ALD_EXIT_OK)
                return r;
        if (!order->ids[1])
                order->ids[1] = g_strdup("");
        if (strcmp(order->ids[0], order->ids[1]) != 0)
                return ALD_EXIT_OK;
        ald_print_error("%s and %s are the same node", order->nodes[0], order->nodes[1]);
        return ALD_EXIT_USAGE;
}

static int call_history(const SilenceOrder *order, sd_bus *bus, sd_bus_error *error)
{
        const AldSilenceCall silence = { .ends = order->ends,
                .node = order->ids[0],
                .peer = order->ids[1],
                .until_usec = order->until_usec,
                .reason = order->reason ?: "",
                .asks = ald_agent_may_ask(&order->ctl) };
        g_autoptr(AldMessage) m = NULL;
        int r = ald_silence_call_make(bus, &silence, &m);

        return r < 0 ? r : sd_bus_call(bus, m, silence.asks ? ALD_ASKING_USEC : 0, error, NULL);
}

static char *describe_nodes(const SilenceOrder *order, AldModel *model)
{
        g_autofree char *node = ald_node_name(model, order->ids[0]);
        g_autofree char *peer = *order->ids[1] ? ald_node_name(model, order->ids[1]) : NULL;

        return peer ? g_strdup_printf("the links between %s and %s", node, peer) : g_steal_pointer(&node);
}

static int print_done(const SilenceOrder *order, const char *nodes)
{
        g_autofree char *until = NULL;

        if (order->ends)
                return ald_print_done("Findings about %s are reported again", nodes);
        if (order->until_usec == ALD_ABSENT_UINT64)
                return ald_print_done("Findings about %s are silent until \"alidadectl unsilence\"", nodes);
        until = ald_event_time(order->until_usec);
        return ald_print_done("Findings about %s are silent until %s", nodes, until);
}

static int change_silence(const SilenceOrder *order, sd_bus *bus, AldModel *model)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *nodes = describe_nodes(order, model), *what = NULL;
        int agent, r = ald_bus_await(bus, ALD_HISTORY_NAME, &error);

        if (r >= 0) {
                agent = ald_agent_start(&order->ctl);
                r = call_history(order, bus, &error);
                ald_agent_stop(agent);
        }
        if (r >= 0)
                return print_done(order, nodes);
        ald_bus_ensure_error(&error, r);
        what = g_strdup_printf("Cannot %s %s", order->ends ? "end the silence of" : "silence", nodes);
        return ald_bus_print_error(&error, what, ALD_HISTORY_UNIT);
}

/* Opens a connection of its own, since the session's connection ended with its loop. */
static int run_order(SilenceOrder *order)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(AldOwnBus) bus = NULL;
        int r = ald_session_load(&session, &order->ctl, false);

        if (r == ALD_EXIT_OK)
                r = ald_bus_open(&order->ctl, &bus);
        if (r == ALD_EXIT_OK && order->nodes[0])
                r = find_ids(order, &session, bus);
        if (r != ALD_EXIT_OK)
                return r;
        return order->nodes[0] ? change_silence(order, bus, session.model)
                               : list_silences(order, bus, session.model);
}

static int run_verb(const AldCtl *ctl, bool ends)
{
        g_auto(SilenceOrder) order = { .ctl = *ctl, .ends = ends, .duration_usec = ALD_ABSENT_UINT64 };
        g_autofree char **words = NULL;
        int r = ald_options_read(synopsis_of(&order), &order, &words);

        if (r >= 0)
                return r;
        order.nodes = words;
        r = check_order(&order);
        return r == ALD_EXIT_OK ? run_order(&order) : r;
}

int ald_verb_silence(const AldCtl *ctl)
{
        return run_verb(ctl, false);
}

int ald_verb_unsilence(const AldCtl *ctl)
{
        return run_verb(ctl, true);
}
