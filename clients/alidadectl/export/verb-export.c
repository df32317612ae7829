/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/export/nfd.h"
#include "clients/alidadectl/export/plan-file.h"
#include "clients/alidadectl/export/slurm.h"
#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "placement/export/plan-export.h"
#include "placement/report/report-json.h"
#include "state-client/model-json.h"

typedef struct ExportOrder {
        AldCtl ctl;
        const char *format, *node, *plan;
        const char *model, *program;
        const char *names, *backend;
        bool force;
} ExportOrder;

static const char *const name_forms[] = { "short", "full", NULL };
static const char *const state_formats[] = { "slurm", "nfd", "dot", "json", NULL };
static const char *const formats_of_node[] = { "nfd", NULL };

/* Options that only some plan formats take, which the help and error messages list. */
static const struct {
        unsigned bit;
        const char *option;
} plan_options[] = {
        { ALD_EXPORT_MODEL, "--model" },
        { ALD_EXPORT_PROGRAM, "--program" },
        { ALD_EXPORT_BACKEND, "--backend" },
};

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(RAW, "plan", "FILE", ExportOrder, plan, "The plan; - is standard input",
                .completion = ALD_COMPLETE_FILE),
        ALD_OPTION(RAW, "model", "PATH", ExportOrder, model, "The model, for formats that take it",
                .completion = ALD_COMPLETE_FILE),
        ALD_OPTION(RAW, "program", "PATH", ExportOrder, program, "The program, for formats that take it",
                .completion = ALD_COMPLETE_FILE),
        ALD_OPTION(WORD, "backend", "NAME", ExportOrder, backend,
                "The backend for all GPUs, for formats that take it\n"
                "(by default, the usual one of each vendor)",
                .word_at = ald_plan_export_backend_at),
        ALD_OPTION(WORD, "names", "FORM", ExportOrder, names,
                "The host names, for slurm: short (the default) or full", .words = name_forms),
        ALD_OPTION(FLAG, "force", NULL, ExportOrder, force,
                "Even if figures are old or paths assumed; for slurm, leave out nodes\n"
                "whose host name is unknown or another node has too"),
        ALD_OPTION_HOST("Read the state of another machine, over ssh"),
        ALD_OPTION_JSON("With json: short, pretty or off"),
        {},
};

static void print_format(const char *name, const char *summary)
{
        printf("  %-18s %s\n", name, summary);
}

/* Prints, for example, "Commands for the workers and the root (--model)". */
static void print_format_of_plan(const AldExportFormat *format)
{
        g_autoptr(GString) taken = g_string_new(NULL);
        g_autofree char *summary = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(plan_options); i++)
                if (format->takes & plan_options[i].bit)
                        g_string_append_printf(
                                taken, "%s%s", taken->len > 0 ? ", " : "", plan_options[i].option);
        summary = taken->len > 0 ? g_strdup_printf("%s (%s)", format->summary, taken->str)
                                 : g_strdup(format->summary);
        print_format(format->name, summary);
}

static void print_formats(void)
{
        const AldExportFormat *format;
        const char *backend;

        puts("\nFormats of a plan, and what they take:");
        for (size_t i = 0; (format = ald_plan_export_format_at(i)); i++)
                print_format_of_plan(format);
        print_format("json", "The plan itself");
        printf("\nBackends:");
        for (size_t i = 0; (backend = ald_plan_export_backend_at(i)); i++)
                printf("%s %s", i > 0 ? "," : "", backend);
        puts("");
        puts("\nFormats of the state:");
        print_format("slurm", "topology.conf, and Features for slurm.conf as comments");
        print_format("nfd", "Labels of this machine, or of NODE, for node-feature-discovery");
        print_format("dot", "What joins the nodes, as with topology --dot");
        print_format("json", "Everything, as with watch --once --json");
}

const AldSynopsis ald_export_synopsis = {
        .usage = "alidadectl export FORMAT --plan=FILE [--model=PATH] [--program=PATH] [--backend=NAME] "
                 "[--force]\n"
                 "alidadectl export slurm|nfd|dot|json [NODE] [--names=short|full] [--force]",
        .intro = "Write a plan, as alidadectl place --json prints it, or the state for other programs.",
        .print_more = print_formats,
        .options = options,
        .first_words = state_formats,
        .first_word_at = ald_plan_export_name_at,
        .before_node = formats_of_node,
};

static int reject_option(const char *option, const char *formats)
{
        ald_print_error("%s works with these formats only: %s", option, formats);
        return ALD_EXIT_USAGE;
}

static int check_plan_option(const ExportOrder *order, const char *option, bool is_given, unsigned bit)
{
        const AldExportFormat *format;
        g_autoptr(GString) list = g_string_new(NULL);

        for (size_t i = 0; is_given && (format = ald_plan_export_format_at(i)); i++) {
                if (!(format->takes & bit))
                        continue;
                if (strcmp(format->name, order->format) == 0)
                        return ALD_EXIT_OK;
                g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", format->name);
        }
        return is_given ? reject_option(option, list->str) : ALD_EXIT_OK;
}

static int check_option(const ExportOrder *order, const char *option, bool is_given, const char *format)
{
        return !is_given || strcmp(order->format, format) == 0 ? ALD_EXIT_OK : reject_option(option, format);
}

/* Checks for words and options that exclude each other. */
static int check_order(const ExportOrder *order)
{
        bool is_json = strcmp(order->format, "json") == 0;
        bool is_plan_format = is_json || ald_plan_export_find(order->format);
        bool is_state_format = g_strv_contains(state_formats, order->format);
        int r;

        if (!is_plan_format && !is_state_format) {
                ald_print_error("Unknown format \"%s\"; see alidadectl export --help", order->format);
                return ALD_EXIT_USAGE;
        }
        if (!is_state_format && !order->plan) {
                ald_print_error(
                        "%s is made from a plan: write one with \"alidadectl place MODEL --json\", and "
                        "specify it with --plan=FILE",
                        order->format);
                return ALD_EXIT_USAGE;
        }
        if (order->plan && !is_plan_format) {
                ald_print_error("%s is made from the state, not from a plan", order->format);
                return ALD_EXIT_USAGE;
        }
        r = check_plan_option(order, "--model", order->model != NULL, ALD_EXPORT_MODEL);
        if (r == ALD_EXIT_OK)
                r = check_plan_option(order, "--program", order->program != NULL, ALD_EXPORT_PROGRAM);
        if (r == ALD_EXIT_OK)
                r = check_plan_option(order, "--backend", order->backend != NULL, ALD_EXPORT_BACKEND);
        if (r == ALD_EXIT_OK)
                r = check_option(order, "--names", order->names != NULL, "slurm");
        if (r == ALD_EXIT_OK)
                r = check_option(order, "NODE", order->node != NULL, "nfd");
        if (r == ALD_EXIT_OK)
                r = check_option(order, "--json", order->ctl.json != ALD_JSON_OFF, "json");
        return r;
}

/* The text is for a file, so it is neither paged nor rendered. */
static int print_raw(const GString *out)
{
        fputs(out->str, stdout);
        return ald_print_finish();
}

static int print_json(ExportOrder *order, json_t *object)
{
        int r;

        if (order->ctl.json == ALD_JSON_OFF)
                order->ctl.json = ALD_JSON_SHORT;
        r = ald_print_json(&order->ctl, object);
        json_decref(object);
        return r;
}

static int export_plan(ExportOrder *order)
{
        g_autoptr(AldPlanReport) report = NULL;
        const AldPlanExportOptions how = { .now_usec = (uint64_t) ald_now(),
                .force = order->force,
                .version = ALD_VERSION,
                .model = order->model,
                .program = order->program,
                .backend = order->backend };
        g_autoptr(GString) out = NULL;
        g_autofree char *reason = NULL;
        int r = ald_plan_file_read(order->plan, &report);

        if (r != ALD_EXIT_OK)
                return r;
        if (strcmp(order->format, "json") == 0)
                return print_json(order, ald_plan_report_to_json(report));
        r = ald_plan_export(order->format, report, &how, &out, &reason);
        if (r < 0) {
                ald_print_error("%s%s", reason,
                        r == -ESTALE || r == -ENOKEY ? "; --force exports the plan nevertheless" : "");
                return ALD_EXIT_ERROR;
        }
        return print_raw(out);
}

static int write_nfd(GString *out, const ExportOrder *order, AldStateSession *session, AldExportState *state)
{
        const AldEntity *node = ald_model_get(session->model, ald_model_node_id(session->model));
        int r = order->node ? ald_session_find_node(session, order->node, &node) : ALD_EXIT_OK;
        unsigned index;

        if (r != ALD_EXIT_OK)
                return r;
        index = node ? ald_topology_summary_index(state->summary, node->id) : 0;
        if (index == 0) {
                ald_print_error("The state service does not know %s", order->node ?: "this machine");
                return ALD_EXIT_ERROR;
        }
        ald_nfd_write(out, state, index - 1);
        return ALD_EXIT_OK;
}

static int write_slurm(GString *out, const AldExportState *state)
{
        g_autofree char *reason = NULL;
        unsigned n_left_out = 0;
        int r = ald_slurm_write(out, state, &n_left_out, &reason);

        if (n_left_out > 0)
                ald_print_error("Nodes left out, since their host names are unknown or not their own alone: "
                                "%u; the comments name them",
                        n_left_out);
        if (r < 0)
                ald_print_error(
                        "%s%s", reason, r == -ESTALE || r == -ENXIO ? "; see --force in alidadectl(1)" : "");
        return r < 0 ? ALD_EXIT_ERROR : ALD_EXIT_OK;
}

static int export_topology(const ExportOrder *order, AldStateSession *session)
{
        const AldTopology *topology = ald_model_topology(session->model);
        g_autoptr(GString) out = g_string_new(NULL);
        g_auto(AldExportState) state = {};
        int r = ALD_EXIT_OK;

        if (topology->failure) {
                ald_print_error("Cannot read the topology: %s", topology->failure);
                return ALD_EXIT_ERROR;
        }
        ald_export_state_init(&state, session->model, ald_now(), order->force);
        state.full_names = g_strcmp0(order->names, "full") == 0;
        if (strcmp(order->format, "slurm") == 0)
                r = write_slurm(out, &state);
        else if (strcmp(order->format, "nfd") == 0)
                r = write_nfd(out, order, session, &state);
        else
                ald_topology_write_dot(out, topology, state.summary, false);
        return r == ALD_EXIT_OK ? print_raw(out) : r;
}

static int export_state(ExportOrder *order)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        bool is_json = strcmp(order->format, "json") == 0;
        int r;

        session.with_topology = !is_json;
        r = ald_session_load(&session, &order->ctl, true);
        if (r != ALD_EXIT_OK)
                return r;
        return is_json ? print_json(order, ald_model_to_json(session.model))
                       : export_topology(order, &session);
}

int ald_verb_export(const AldCtl *ctl)
{
        ExportOrder order = { .ctl = *ctl };
        g_autofree char **args = NULL;
        int r = ald_options_read(&ald_export_synopsis, &order, &args);

        if (r >= 0)
                return r;
        if (!args[0] || (args[1] && args[2]))
                return ald_options_print_usage(&ald_export_synopsis);
        order.format = args[0];
        order.node = args[1];
        r = check_order(&order);
        if (r != ALD_EXIT_OK)
                return r;
        return order.plan ? export_plan(&order) : export_state(&order);
}
