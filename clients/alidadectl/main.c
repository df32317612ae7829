/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/ctl.h"
#include "clients/command-line/print.h"
#include "clients/command-line/text.h"

static int verb_help(const AldCtl *ctl);
static int verb_options(const AldCtl *ctl);

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
                "Show this machine or another node at a glance, and the totals of the cluster" },
        { "nodes", 0, 0, ald_verb_nodes, "nodes", "List all nodes" },
        { "show", 1, 1, ald_verb_show, "show NODE",
                "Show everything about a node, given its name, its id or the first digits of the id" },
        { "links", 0, 2, ald_verb_links, "links [NODE…]",
                "List the measured links, all or those of one node, or of two with each other" },
        { "topology", 0, 0, ald_verb_topology, "topology",
                "Show what joins the nodes, measured or not, and how fast it is" },
        { "fabric", 0, 1, ald_verb_fabric, "fabric [NODE]",
                "List RDMA and Thunderbolt ports, their neighbours, and why one cannot be used" },
        { "watch", 0, 0, ald_verb_watch, "watch", "Show the cluster live, until q or Ctrl-C" },
        { "monitor", 0, 0, ald_verb_monitor, "monitor", "Print a line for each update" },
        { "findings", 0, UINT_MAX, ald_verb_findings, "findings …",
                "List what is wrong in the cluster, or was; see alidadectl findings --help",
                &ald_findings_synopsis },
        { "history", 0, UINT_MAX, ald_verb_history, "history …",
                "Show figures of a node or of links over time; see alidadectl history --help",
                &ald_history_synopsis },
        { "silence", 0, UINT_MAX, ald_verb_silence, "silence …",
                "Stop notices about a node or link; see alidadectl silence --help", &ald_silence_synopsis },
        { "unsilence", 0, UINT_MAX, ald_verb_unsilence, "unsilence …",
                "Report them again; see alidadectl unsilence --help", &ald_unsilence_synopsis },
        { "check", 0, UINT_MAX, ald_verb_check, "check …",
                "Check this machine for schedulers and monitoring; see alidadectl check --help",
                &ald_check_synopsis },
        { "set-name", 1, 1, ald_verb_set_name, "set-name NAME",
                "Give this machine a friendly name; \"\" removes it" },
        { "forget", 1, 1, ald_verb_forget, "forget NODE",
                "Hide an offline node on all machines until it is back" },
        { "probe", 0, UINT_MAX, ald_verb_probe, "probe …",
                "Measure the link to a node or a device now; see alidadectl probe --help",
                &ald_probe_synopsis },
        { "place", 0, UINT_MAX, ald_verb_place, "place MODEL …",
                "Plan where a model runs best; see alidadectl place --help", &ald_place_synopsis },
        { "export", 0, UINT_MAX, ald_verb_export, "export …",
                "Write a plan or the state for other programs; see alidadectl export --help",
                &ald_export_synopsis },
        { "metrics", 0, 0, ald_verb_metrics, "metrics", "Print everything as metrics for Prometheus, once" },
        { "inhibit", 0, UINT_MAX, ald_verb_inhibit, "inhibit …",
                "Keep probes away while a command runs; see alidadectl inhibit --help",
                &ald_inhibit_synopsis },
        { "cluster", 0, UINT_MAX, ald_verb_cluster, "cluster …",
                "Create, join and maintain a cluster; see alidadectl cluster --help" },
        { "version", 0, 0, verb_version, "version", "Show the version" },
        { "help", 0, 2, verb_help, NULL, NULL },
        { "_names", 0, 0, ald_verb_names, NULL, NULL },
        { "_options", 1, 2, verb_options, NULL, NULL },
};

/* Options as they stand in the help; with a verb, those that only this takes. */
static const struct {
        const char *verb, *usage, *help;
} option_helps[] = {
        { NULL, "-h --help", "Show this help, or that of the verb before it" },
        { NULL, "   --version", "Show the version" },
        { NULL, "-H --host=USER@HOST", "Ask another machine, over ssh" },
        { NULL, "   --json[=MODE]", "Print JSON: short (as without MODE), pretty or off" },
        { "watch", "   --once", "Print one snapshot and exit" },
        { "forget", "   --check", "Only show what would be done" },
        { "nodes", "   --columns=NAME,…", "Show these columns; \"help\" lists what there is" },
        { "nodes", "   --sort=NAME,…", "Sort by these columns; \"-\" before one reverses its order" },
        { "nodes", "   --csv", "Print comma-separated values" },
        { "watch", "   --columns=NAME,…", "Show these columns of the nodes" },
        { "watch", "   --sort=NAME,…", "Sort the nodes by these columns" },
        { "topology", "   --all", "List all paths in each direction" },
        { "topology", "   --dot", "Print a graph for graphviz" },
        { "topology", "   --inside=NODE", "List what joins the devices of a node" },
        { NULL, "   --no-pager", "Do not start a pager" },
        { NULL, "   --no-ask-password", "Do not ask for a password" },
};

/* For one verb, or for all of them in front of the text. */
static void print_option_helps(const char *verb)
{
        puts("\nOptions:");
        for (size_t i = 0; i < sizeof(option_helps) / sizeof(option_helps[0]); i++) {
                const char *owner = option_helps[i].verb;

                if (verb && owner && strcmp(owner, verb) != 0)
                        continue;
                printf("  %-21s %s%s%c%s\n", option_helps[i].usage, owner && !verb ? owner : "",
                        owner && !verb ? ": " : "",
                        owner && !verb ? g_ascii_tolower(option_helps[i].help[0]) : option_helps[i].help[0],
                        option_helps[i].help + 1);
        }
        puts("\nSee alidadectl(1).");
}

static int print_general_help(void)
{
        puts("Usage: alidadectl [OPTION…] [VERB]\n\n"
             "Show the nodes and links of a cluster, and what they can do.\n\n"
             "Verbs (default: status):");
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
                g_autofree char *usage = verbs[i].usage ? ald_text_fit(verbs[i].usage, 14, false) : NULL;

                if (usage)
                        printf("  %s  %s\n", usage, verbs[i].help);
        }
        print_option_helps(NULL);
        return ald_print_finish();
}

/* Of the verb that was given before --help; of the program if there was none. */
static int print_help(const char *verb)
{
        for (size_t i = 0; verb && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
                if (!verbs[i].usage || strcmp(verbs[i].name, verb) != 0)
                        continue;
                printf("Usage: alidadectl [OPTION…] %s\n\n%s.\n", verbs[i].usage, verbs[i].help);
                print_option_helps(verbs[i].name);
                return ald_print_finish();
        }
        return print_general_help();
}

static const AldVerb *find_verb(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}

/* Completion asks for the options of a verb, or for the words that the value of one of them may be. */
static int verb_options(const AldCtl *ctl)
{
        static const char *const others[] = {
                [ALD_COMPLETE_FILE] = ":file",
                [ALD_COMPLETE_NODE] = ":node",
                [ALD_COMPLETE_HOST] = ":host",
        };
        const AldVerb *verb = find_verb(ctl->args[0]);
        const AldOption *option = verb && verb->synopsis ? verb->synopsis->options : NULL;

        for (; option && option->name; option++) {
                const char *const *words = ald_option_words(option);

                if (!ctl->args[1])
                        printf("--%s%s\n", option->name,
                                option->argument && *option->argument != '[' ? "=" : "");
                else if (strcmp(option->name, ctl->args[1]) == 0 && others[option->completion])
                        puts(others[option->completion]);
                else if (strcmp(option->name, ctl->args[1]) == 0)
                        for (; words && *words; words++)
                                puts(*words);
        }
        return ald_print_finish();
}

/* True if the verb reads its options itself. */
static bool has_own_options(const char *name)
{
        const AldVerb *verb = find_verb(name);

        return verb && (verb->synopsis || verb->run == ald_verb_cluster);
}

/*
 * Returns an exit code when there is nothing more to do, else -1. Collects what is no option; what follows a
 * verb with options of its own is left for that.
 */
static int parse_options(int argc, char **argv, AldCtl *ctl, GPtrArray *words)
{
        enum {
                VERSION = 0x100,
                ONCE,
                CHECK,
                ALL,
                DOT,
                INSIDE,
                COLUMNS,
                SORT,
                CSV,
                JSON,
                NO_PAGER,
                NO_ASK_PASSWORD
        };
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "host", required_argument, NULL, 'H' },
                { "json", optional_argument, NULL, JSON },
                { "no-pager", no_argument, NULL, NO_PAGER },
                { "no-ask-password", no_argument, NULL, NO_ASK_PASSWORD },
                { "version", no_argument, NULL, VERSION },
                { "once", no_argument, NULL, ONCE },
                { "check", no_argument, NULL, CHECK },
                { "all", no_argument, NULL, ALL },
                { "dot", no_argument, NULL, DOT },
                { "inside", required_argument, NULL, INSIDE },
                { "columns", required_argument, NULL, COLUMNS },
                { "sort", required_argument, NULL, SORT },
                { "csv", no_argument, NULL, CSV },
                {},
        };
        int c;

        opterr = 0;
        while ((words->len == 0 || !has_own_options(words->pdata[0])) &&
                (c = getopt_long(argc, argv, "-:hH:", options, NULL)) >= 0)
                switch (c) {
                case 1:
                        g_ptr_array_add(words, optarg);
                        break;
                case 'h':
                        return print_help(words->len > 0 ? words->pdata[0] : NULL);
                case VERSION:
                        return verb_version(ctl);
                case ONCE:
                        ctl->once = true;
                        break;
                case CHECK:
                        ctl->check = true;
                        break;
                case ALL:
                        ctl->all = true;
                        break;
                case DOT:
                        ctl->dot = true;
                        break;
                case INSIDE:
                        ctl->inside = optarg;
                        break;
                case COLUMNS:
                        ctl->columns = optarg;
                        break;
                case SORT:
                        ctl->sort = optarg;
                        break;
                case CSV:
                        ctl->csv = true;
                        break;
                case 'H':
                        ctl->host = optarg;
                        break;
                case JSON:
                        if (ald_json_parse_mode(optarg, &ctl->json) < 0)
                                return ALD_EXIT_USAGE;
                        break;
                case NO_PAGER:
                        ctl->pager = false;
                        break;
                case NO_ASK_PASSWORD:
                        ctl->ask_password = false;
                        break;
                default:
                        return ald_print_option_error(argv, c, options);
                }
        for (; optind < argc; optind++)
                g_ptr_array_add(words, argv[optind]);
        g_ptr_array_add(words, NULL);
        return -1;
}

static int unknown_verb(const char *name)
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

/* True if the verb takes the options about columns that are given; reports one that it does not take. */
static bool has_columns(const AldCtl *ctl, int (*run)(const AldCtl *ctl))
{
        bool lists = run == ald_verb_nodes || run == ald_verb_findings;

        if ((ctl->columns || ctl->sort) && !lists && run != ald_verb_watch)
                ald_print_error("%s works with nodes, watch and findings only",
                        ctl->columns ? "--columns" : "--sort");
        else if (ctl->csv && !lists && run != ald_verb_history)
                ald_print_error("--csv works with nodes, findings and history only");
        else if (ctl->csv && ctl->json)
                ald_print_error("--json and --csv exclude each other");
        else
                return true;
        return false;
}

static int run_verb(AldCtl *ctl, const char *name, unsigned n_args)
{
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
                if (strcmp(verbs[i].name, name) != 0)
                        continue;
                if (n_args < verbs[i].min_args || n_args > verbs[i].max_args) {
                        ald_print_error(
                                "Usage: alidadectl %s", verbs[i].usage ? verbs[i].usage : verbs[i].name);
                        return ALD_EXIT_USAGE;
                }
                if (ctl->once && verbs[i].run != ald_verb_watch) {
                        ald_print_error("--once works with watch only");
                        return ALD_EXIT_USAGE;
                }
                if (ctl->check && verbs[i].run != ald_verb_forget) {
                        ald_print_error("--check works with forget only, or after cluster");
                        return ALD_EXIT_USAGE;
                }
                if ((ctl->all || ctl->dot || ctl->inside) && verbs[i].run != ald_verb_topology) {
                        ald_print_error("%s works with topology only", ctl->all   ? "--all"
                                                                       : ctl->dot ? "--dot"
                                                                                  : "--inside");
                        return ALD_EXIT_USAGE;
                }
                if (!has_columns(ctl, verbs[i].run))
                        return ALD_EXIT_USAGE;
                return verbs[i].run(ctl);
        }
        return unknown_verb(name);
}

/* "help VERB" is "VERB --help"; "help cluster join" is "cluster --help". */
static int verb_help(const AldCtl *ctl)
{
        const char *verb = ctl->args[0];
        char *option[] = { (char *) "--help", NULL };
        AldCtl own = *ctl;

        if (!verb || strcmp(verb, "help") == 0)
                return print_general_help();
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
                if (verbs[i].usage && strcmp(verbs[i].name, verb) == 0) {
                        own.args = option;
                        return has_own_options(verb) ? verbs[i].run(&own) : print_help(verb);
                }
        return unknown_verb(verb);
}

int main(int argc, char **argv)
{
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        AldCtl ctl;
        int r;

        ald_ctl_init(&ctl);
        r = parse_options(argc, argv, &ctl, words);
        if (r >= 0)
                return r;
        ctl.args = (char **) words->pdata + (words->len > 1);
        return words->len > 1 ? run_verb(&ctl, words->pdata[0], words->len - 2) : run_verb(&ctl, "status", 0);
}
