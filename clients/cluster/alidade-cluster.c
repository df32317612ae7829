/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "clients/cluster/command.h"
#include "clients/command-line/completion.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"

typedef struct Verb {
        const char *name;
        unsigned min_args, max_args;
        int (*run)(const AldClusterCommand *command);
        const char *usage;
        const char *help;
        AldCompletion completion; /* what the shell completes after the verb */
} Verb;

static const Verb verbs[] = {
        { "status", 0, 0, ald_cluster_status, "status", "Show brokers, nodes and certificates" },
        { "init", 1, 1, ald_cluster_init, "init NAME [--address=HOST] [--no-broker]",
                "Create a cluster and keep its keys on this machine" },
        { "join", 0, 1, ald_cluster_join, "join USER@FIRST [--broker]",
                "Join the cluster that was created on FIRST", ALD_COMPLETE_HOST },
        { "sign", 0, 1, ald_cluster_sign, "sign [FILE|DIR] [--broker [--address=HOST]]",
                "Sign a node's request to join, or all requests in a folder", ALD_COMPLETE_FILE },
        { "sign-bridge", 1, 2, ald_cluster_sign_bridge, "sign-bridge SITE [FILE] [--output=FILE]",
                "Sign a bridge certificate for a node that is a broker", ALD_COMPLETE_FILE },
        { "renew", 0, 1, ald_cluster_renew, "renew [USER@FIRST]",
                "Renew the certificates and the list of brokers of this node", ALD_COMPLETE_HOST },
        { "certificates", 0, 0, ald_cluster_certificates, "certificates",
                "List the certificates that were signed on this machine" },
        { "revoke", 1, 1, ald_cluster_revoke, "revoke NODE", "Revoke the certificates of a node",
                ALD_COMPLETE_NODE },
        { "leave", 0, 0, ald_cluster_leave, "leave [--force]",
                "Leave the cluster and remove the keys of this node" },
        { "backup", 1, 1, ald_cluster_backup, "backup FILE",
                "Save the keys of the cluster to a file, encrypted with a passphrase", ALD_COMPLETE_FILE },
        { "restore", 1, 1, ald_cluster_restore, "restore FILE",
                "Restore the keys of the cluster to this machine from a backup", ALD_COMPLETE_FILE },
        { "install-crl", 0, 0, ald_cluster_install_crl, "install-crl",
                "Install the revocation list that the cluster service received" },
};

static int run_help(const void *command, const char *verb);

static const char *const joining_verbs[] = { "join", "renew", NULL };
static const char *const changing_verbs[] = { "init", "join", "sign", "sign-bridge", "renew", "revoke",
        "leave", "backup", "restore", "install-crl", NULL };

/* If a verb accepts several of them wrongly, the first in this order is reported. */
static const AldOption options[] = {
        { .name = "help", .letter = 'h', .help = "Show this help", .kind = ALD_OPTION_RUN, .run = run_help },
        ALD_OPTION(TEXTS, "address", "HOST", AldClusterCommand, addresses,
                "Name or address of the broker on this machine; other nodes use the\n"
                "first; sign: what a request may name",
                .completion = ALD_COMPLETE_HOST, .verbs = ALD_OPTION_VERBS("init", "join", "renew", "sign")),
        ALD_OPTION(FLAG, "no-broker", NULL, AldClusterCommand, no_broker,
                "Do not run a broker on this machine", .verbs = ALD_OPTION_VERBS("init")),
        ALD_OPTION(FLAG, "broker", NULL, AldClusterCommand, broker,
                "Run a broker on this machine; sign: allow the node to be a broker",
                .verbs = ALD_OPTION_VERBS("join", "renew", "sign")),
        ALD_OPTION(FLAG, "request", NULL, AldClusterCommand, request,
                "Write a request to the file or to standard output", .verbs = joining_verbs),
        ALD_OPTION(FLAG, "accept", NULL, AldClusterCommand, accept,
                "Take the signed bundle from the file or from standard input", .verbs = joining_verbs),
        ALD_OPTION(FLAG, "renew", NULL, AldClusterCommand, renew,
                "Sign even if the node already has a certificate for the same key",
                .verbs = ALD_OPTION_VERBS("sign")),
        ALD_OPTION(FLAG, "replace", NULL, AldClusterCommand, replace,
                "Revoke an existing certificate for another key",
                .verbs = ALD_OPTION_VERBS("sign", "sign-bridge", "join", "renew")),
        ALD_OPTION(RAW, "output", "FILE", AldClusterCommand, output,
                "Write to this file instead of to standard output", .completion = ALD_COMPLETE_FILE,
                .verbs = ALD_OPTION_VERBS("sign", "sign-bridge")),
        ALD_OPTION(FLAG, "force", NULL, AldClusterCommand, force,
                "Even if this node keeps the keys of the cluster", .verbs = ALD_OPTION_VERBS("leave")),
        { .name = "host",
                .letter = 'H',
                .argument = "USER@HOST",
                .help = "Ask another machine, over ssh",
                .kind = ALD_OPTION_COMMON,
                .completion = ALD_COMPLETE_HOST,
                .verbs = ALD_OPTION_VERBS("status") },
        ALD_OPTION(FLAG, "auto", NULL, AldClusterCommand, automatic,
                "Only what expires soon, through the brokers, as the daily timer does",
                .verbs = ALD_OPTION_VERBS("renew")),
        ALD_OPTION(FLAG, "check", NULL, AldClusterCommand, check, "Only report what would be changed",
                .verbs = changing_verbs),
        ALD_OPTION_JSON("Print JSON: short, pretty or off; of verbs that change something,\n"
                        "the changes"),
        { .name = "no-pager",
                .help = "Do not start a pager",
                .kind = ALD_OPTION_COMMON,
                .verbs = ALD_OPTION_VERBS("status") },
        {},
};

static int run_help(const void *command, const char *verb)
{
        puts("Usage: alidadectl cluster [VERB] [OPTION…]\n\n"
             "Create, join and maintain a cluster of nodes that trust each other.\n\n"
             "Verbs (default: status):");
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                printf("  %-46s  %s\n", verbs[i].usage, verbs[i].help);
        ald_options_print(options, NULL);
        puts("\nSee alidadectl(1).");
        return ald_print_finish();
}

/* Returns whether the program was called for completion. This verb completes the words after it, and accepts
 * none of these options itself. */
static bool is_completing(const char *first)
{
        return strcmp(first, "_complete") == 0;
}

static const AldSynopsis synopsis = { .options = options, .ends = is_completing };

static const Verb *find_verb(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}

/* Prints what may come next on the command line after "alidadectl cluster". */
static int print_completions(const AldClusterCommand *command, char **args)
{
        g_auto(AldTypedLine) line = {};
        const Verb *verb;
        bool has_file;

        ald_typed_line_read(&line, &synopsis, args);
        line.has_host |= command->ctl.host != NULL;
        verb = line.words[0] ? find_verb(line.words[0]) : NULL;
        has_file = g_strv_contains((const char *const *) args, "--request") ||
                   g_strv_contains((const char *const *) args, "--accept");
        if (verb)
                ald_complete_verb(&line, verb->name, has_file ? ALD_COMPLETE_FILE : verb->completion);
        else if (!line.words[0] && !ald_complete_option(&line, NULL))
                for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                        printf("%s\t%s\n", verbs[i].name, verbs[i].help);
        return ald_print_finish();
}

static int run_verb(const Verb *verb, AldClusterCommand *command, char **args)
{
        const AldOption *misused = ald_options_misused(&synopsis, &command->ctl, verb->name);
        int r;

        if (misused) {
                ald_print_error("--%s cannot be used with cluster %s", misused->name, verb->name);
                return ALD_EXIT_USAGE;
        }
        r = ald_words_check_count(args, verb->min_args, verb->max_args, "alidadectl cluster", verb->usage);
        if (r >= 0)
                return r;
        command->ctl.args = args;
        command->n_args = g_strv_length(args);
        command->changes->check = command->check;
        command->changes->json = command->ctl.json != ALD_JSON_OFF;
        r = verb->run(command);
        return g_strv_contains(changing_verbs, verb->name) && r != ALD_EXIT_USAGE
                       ? ald_changes_finish(command->changes, &command->ctl, r)
                       : r;
}

/* Prints warnings of shared code of the services in the way of this program. */
static GLogWriterOutput write_log(
        GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer userdata)
{
        for (gsize i = 0; i < n_fields && level <= G_LOG_LEVEL_WARNING; i++)
                if (strcmp(fields[i].key, "MESSAGE") == 0)
                        ald_print_error("%s", (const char *) fields[i].value);
        return G_LOG_WRITER_HANDLED;
}

static int report_unknown_verb(const char *name)
{
        const char *known[G_N_ELEMENTS(verbs) + 1] = { NULL };
        g_autofree char *hint = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                known[i] = verbs[i].name;
        hint = ald_did_you_mean(name, known);
        ald_print_error("Unknown command \"cluster %s\"; %s alidadectl cluster --help", name, hint);
        return ALD_EXIT_USAGE;
}

int main(int argc, char **argv)
{
        g_autoptr(GPtrArray) addresses = g_ptr_array_new_with_free_func(g_free);
        g_auto(AldChanges) changes = {};
        AldClusterCommand command = { .addresses = addresses, .changes = &changes };
        g_autofree char **words = NULL;
        const Verb *verb;
        const char *name;
        int r;

        ald_ctl_init(&command.ctl);
        ald_changes_init(&changes);
        g_log_set_writer_func(write_log, NULL, NULL);
        command.ctl.args = argv + MIN(argc, 1);
        r = ald_options_read(&synopsis, &command, &words);
        if (r >= 0)
                return r;
        name = words[0] ?: "status";
        if (strcmp(name, "help") == 0)
                return run_help(&command, NULL);
        if (is_completing(name))
                return print_completions(&command, words + 1);
        verb = find_verb(name);
        return verb ? run_verb(verb, &command, words + (words[0] != NULL)) : report_unknown_verb(name);
}
