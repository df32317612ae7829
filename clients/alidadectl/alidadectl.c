/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/completion.h"
#include "clients/command-line/ctl.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"

static int verb_help(const AldCtl *ctl);
static int verb_complete(const AldCtl *ctl);
static int run_help(const void *ctl, const char *verb);
static int run_version(const void *ctl, const char *verb);

static int verb_version(const AldCtl *ctl)
{
        json_t *object;
        int r;

        if (!ctl->json) {
                puts("alidadectl " ALD_VERSION);
                return ald_print_finish();
        }
        object = json_object();
        json_object_set_new(object, "Version", json_string(ALD_VERSION));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static const AldVerb verbs[] = {
        { "status", 0, 1, ald_verb_status, "status [NODE]",
                "Show this machine or another node at a glance, and the totals of the cluster",
                .completion = ALD_COMPLETE_NODE },
        { "nodes", 0, 0, ald_verb_nodes, "nodes", "List all nodes" },
        { "devices", 0, UINT_MAX, ald_verb_devices, "devices …",
                "List the devices of all nodes and who holds them; see alidadectl devices --help",
                .completion = ALD_COMPLETE_NODE, .synopsis = &ald_devices_synopsis },
        { "show", 1, 1, ald_verb_show, "show NODE",
                "Show everything about a node, given its name, its id or the first digits of the id",
                .completion = ALD_COMPLETE_NODE },
        { "links", 0, 2, ald_verb_links, "links [NODE…]",
                "List the measured links, all or those of one node, or of two with each other",
                .completion = ALD_COMPLETE_NODE },
        { "topology", 0, 0, ald_verb_topology, "topology",
                "Show what joins the nodes, measured or not, and how fast it is" },
        { "fabric", 0, 1, ald_verb_fabric, "fabric [NODE]",
                "List RDMA and Thunderbolt ports, their neighbours, and why one cannot be used",
                .completion = ALD_COMPLETE_NODE },
        { "watch", 0, 0, ald_verb_watch, "watch", "Show the cluster live, until q or Ctrl-C" },
        { "monitor", 0, 0, ald_verb_monitor, "monitor", "Print a line for each update" },
        { "findings", 0, UINT_MAX, ald_verb_findings, "findings …",
                "List what is wrong in the cluster, or was; see alidadectl findings --help",
                .synopsis = &ald_findings_synopsis },
        { "history", 0, UINT_MAX, ald_verb_history, "history …",
                "Show figures of a node or of links over time; see alidadectl history --help",
                .completion = ALD_COMPLETE_NODE, .synopsis = &ald_history_synopsis },
        { "silence", 0, UINT_MAX, ald_verb_silence, "silence …",
                "Stop notices about a node or link; see alidadectl silence --help",
                .completion = ALD_COMPLETE_NODE, .synopsis = &ald_silence_synopsis },
        { "unsilence", 0, UINT_MAX, ald_verb_unsilence, "unsilence …",
                "Report them again; see alidadectl unsilence --help", .completion = ALD_COMPLETE_NODE,
                .synopsis = &ald_unsilence_synopsis },
        { "check", 0, UINT_MAX, ald_verb_check, "check …",
                "Check this machine for schedulers and monitoring; see alidadectl check --help",
                .synopsis = &ald_check_synopsis },
        { "set-name", 1, 1, ald_verb_set_name, "set-name NAME",
                "Give this machine a friendly name; \"\" removes it" },
        { "forget", 1, 1, ald_verb_forget, "forget NODE",
                "Hide an offline node on all machines until it is back", .completion = ALD_COMPLETE_NODE },
        { "probe", 0, UINT_MAX, ald_verb_probe, "probe …",
                "Measure the link to a node or a device now; see alidadectl probe --help",
                .synopsis = &ald_probe_synopsis },
        { "place", 0, UINT_MAX, ald_verb_place, "place MODEL …",
                "Plan where a model runs best; see alidadectl place --help", .completion = ALD_COMPLETE_FILE,
                .synopsis = &ald_place_synopsis },
        { "export", 0, UINT_MAX, ald_verb_export, "export …",
                "Write a plan or the state for other programs; see alidadectl export --help",
                .synopsis = &ald_export_synopsis },
        { "metrics", 0, 0, ald_verb_metrics, "metrics", "Print everything as metrics for Prometheus, once" },
        { "inhibit", 0, UINT_MAX, ald_verb_inhibit, "inhibit …",
                "Keep probes away while a command runs; see alidadectl inhibit --help",
                .completion = ALD_COMPLETE_COMMAND, .synopsis = &ald_inhibit_synopsis },
        { "cluster", 0, UINT_MAX, ald_verb_cluster, "cluster …",
                "Create, join and maintain a cluster; see alidadectl cluster --help" },
        { "version", 0, 0, verb_version, "version", "Show the version" },
        { "help", 0, 2, verb_help, NULL, NULL },
        { "_names", 0, 0, ald_verb_names, NULL, NULL },
        { "_complete", 0, UINT_MAX, verb_complete, NULL, NULL },
};

#define PRINT_TABLES "nodes", "links", "findings", "history"

/* All verbs take some of these options, and verbs without a table of their own the others. The options may
 * stand before the verb as well. */
static const AldOption options[] = {
        { .name = "help",
                .letter = 'h',
                .help = "Show this help, or that of the verb before it",
                .kind = ALD_OPTION_RUN,
                .run = run_help },
        { .name = "version", .help = "Show the version", .kind = ALD_OPTION_RUN, .run = run_version },
        ALD_OPTION_HOST("Ask another machine, over ssh"),
        ALD_OPTION_JSON("Print JSON: short (as without MODE), pretty or off"),
        ALD_OPTION(FLAG, "once", NULL, AldCtl, once, "Print one snapshot and exit",
                .verbs = ALD_OPTION_VERBS("watch")),
        ALD_OPTION(FLAG, "check", NULL, AldCtl, check, "Only show what would be done",
                .verbs = ALD_OPTION_VERBS("forget")),
        ALD_OPTION(FLAG, "all", NULL, AldCtl, all, "List all paths in each direction",
                .verbs = ALD_OPTION_VERBS("topology")),
        ALD_OPTION(FLAG, "dot", NULL, AldCtl, dot, "Print a graph for graphviz",
                .verbs = ALD_OPTION_VERBS("topology")),
        ALD_OPTION(RAW, "inside", "NODE", AldCtl, inside, "List what joins the devices of a node",
                .completion = ALD_COMPLETE_NODE, .verbs = ALD_OPTION_VERBS("topology")),
        ALD_OPTION_COLUMNS(ALD_OPTION_VERBS(PRINT_TABLES, "watch")),
        ALD_OPTION_SORT(ALD_OPTION_VERBS(PRINT_TABLES, "watch")),
        ALD_OPTION_CSV(ALD_OPTION_VERBS(PRINT_TABLES)),
        ALD_OPTION_NO_PAGER,
        ALD_OPTION_NO_ASK_PASSWORD,
        {},
};

static const AldVerb *find_verb(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}

/* Returns true if the verb reads its options itself. */
static bool has_own_options(const char *name)
{
        const AldVerb *verb = find_verb(name);

        return verb && (verb->synopsis || verb->run == ald_verb_cluster || verb->run == verb_complete);
}

static const AldSynopsis synopsis = { .options = options, .ends = has_own_options };

/* Prints the help of the verb before --help, or without a verb that of the program. */
static int run_help(const void *ctl, const char *name)
{
        const AldVerb *verb = name ? find_verb(name) : NULL;

        if (verb && verb->usage) {
                printf("Usage: alidadectl [OPTION…] %s\n\n%s.\n", verb->usage, verb->help);
        } else {
                verb = NULL;
                puts("Usage: alidadectl [OPTION…] [VERB]\n\n"
                     "Show the nodes and links of a cluster, and what they can do.\n\n"
                     "Verbs (default: status):");
        }
        for (size_t i = 0; !verb && i < G_N_ELEMENTS(verbs); i++) {
                g_autofree char *usage = verbs[i].usage ? ald_text_fit(verbs[i].usage, 14, false) : NULL;

                if (usage)
                        printf("  %s  %s\n", usage, verbs[i].help);
        }
        ald_options_print(options, verb ? verb->name : NULL);
        puts("\nSee alidadectl(1).");
        return ald_print_finish();
}

static int run_version(const void *ctl, const char *verb)
{
        return verb_version(ctl);
}

static int report_unknown_verb(const char *name)
{
        const char *known[G_N_ELEMENTS(verbs) + 1] = { NULL };
        g_autofree char *hint = NULL;
        size_t n = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (verbs[i].usage)
                        known[n++] = verbs[i].name;
        hint = ald_did_you_mean(name, known);
        ald_print_error("Unknown command \"%s\"; %s alidadectl --help", name, hint);
        return ALD_EXIT_USAGE;
}

static void report_misuse(const AldOption *option)
{
        guint n = g_strv_length((char **) option->verbs);
        g_autoptr(GString) list = g_string_new(option->verbs[0]);

        for (guint i = 1; i < n; i++)
                g_string_append_printf(list, "%s%s", i + 1 < n ? ", " : " and ", option->verbs[i]);
        ald_print_error("--%s works with %s only%s", option->name, list->str,
                strcmp(option->name, "check") == 0 ? ", or after cluster" : "");
}

static int run_verb(const AldVerb *verb, const AldCtl *ctl, char **args)
{
        const AldOption *misused = ald_options_misused(&synopsis, ctl, verb->name);
        AldCtl own = *ctl;
        int r = ald_words_check_count(
                args, verb->min_args, verb->max_args, "alidadectl", verb->usage ?: verb->name);

        if (r >= 0)
                return r;
        own.args = args;
        if (misused)
                report_misuse(misused);
        else if (ctl->csv && ctl->json)
                ald_print_error("--json and --csv exclude each other");
        else
                return verb->run(&own);
        return ALD_EXIT_USAGE;
}

/* "help VERB" is "VERB --help"; "help cluster join" is "cluster --help". */
static int verb_help(const AldCtl *ctl)
{
        const char *name = ctl->args[0];
        const AldVerb *verb = name ? find_verb(name) : NULL;
        char *option[] = { (char *) "--help", NULL };
        AldCtl own = *ctl;

        if (!name || strcmp(name, "help") == 0)
                return run_help(ctl, NULL);
        if (!verb || !verb->usage)
                return report_unknown_verb(name);
        own.args = option;
        return has_own_options(name) ? verb->run(&own) : run_help(ctl, name);
}

/* Completes the words after a verb with a table of its own. The cluster program completes its own verbs. */
static void complete_own(const AldTypedLine *before, const AldVerb *verb)
{
        guint n = g_strv_length(before->words);
        g_autofree char **args = g_new0(char *, n + 2);
        g_auto(AldTypedLine) line = {};
        AldCtl ctl = { .host = before->has_host ? "another" : NULL, .args = args };

        memcpy(args, before->words, sizeof(char *) * n);
        args[n] = (char *) before->current;
        if (verb->synopsis) {
                ald_typed_line_read(&line, verb->synopsis, args + 1);
                line.has_host |= before->has_host;
                ald_complete_verb(&line, verb->name, verb->completion);
        } else if (verb->run == ald_verb_cluster) {
                args[0] = (char *) "_complete";
                (void) verb->run(&ctl);
        }
}

/* Prints what may come next on the command line of the arguments. */
static int verb_complete(const AldCtl *ctl)
{
        g_auto(AldTypedLine) line = {};
        const AldVerb *verb;

        ald_typed_line_read(&line, &synopsis, ctl->args);
        verb = line.words[0] ? find_verb(line.words[0]) : NULL;
        if (verb && has_own_options(verb->name))
                complete_own(&line, verb);
        else if (verb)
                ald_complete_verb(&line, verb->name, verb->completion);
        else if (!line.words[0] && !ald_complete_option(&line, NULL))
                for (size_t i = 0; i < G_N_ELEMENTS(verbs) && verbs[i].usage; i++)
                        printf("%s\t%s\n", verbs[i].name, verbs[i].help);
        return ald_print_finish();
}

int main(int argc, char **argv)
{
        g_autofree char **words = NULL;
        const AldVerb *verb;
        AldCtl ctl;
        int r;

        ald_ctl_init(&ctl);
        ctl.args = argv + MIN(argc, 1);
        r = ald_options_read(&synopsis, &ctl, &words);
        if (r >= 0)
                return r;
        verb = find_verb(words[0] ?: "status");
        return verb ? run_verb(verb, &ctl, words + (words[0] != NULL)) : report_unknown_verb(words[0]);
}
