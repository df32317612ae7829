/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "clients/cluster/command.h"
#include "clients/command-line/print.h"

/* Options that some verbs take. */
enum {
        ADDRESS = 1 << 0,
        NO_BROKER = 1 << 1,
        BROKER = 1 << 2,
        REQUEST = 1 << 3,
        ACCEPT = 1 << 4,
        REPLACE = 1 << 5,
        RENEW = 1 << 6,
        OUTPUT = 1 << 7,
        FORCE = 1 << 8,
        JSON = 1 << 9,
        HOST = 1 << 10,
        AUTO = 1 << 11,
        CHECK = 1 << 12,
        CHANGES = CHECK | JSON, /* of verbs that change something */
};

typedef struct Verb {
        const char *name;
        unsigned min_args, max_args;
        unsigned options;
        int (*run)(const AldClusterCommand *command);
        const char *usage;
        const char *help;
} Verb;

static const Verb verbs[] = {
        { "status", 0, 0, JSON | HOST, ald_cluster_status, "status", "Show brokers, nodes and certificates" },
        { "init", 1, 1, ADDRESS | NO_BROKER | CHANGES, ald_cluster_init,
                "init NAME [--address=HOST] [--no-broker]",
                "Create a cluster and keep its keys on this machine" },
        { "join", 0, 1, ADDRESS | BROKER | REQUEST | ACCEPT | REPLACE | CHANGES, ald_cluster_join,
                "join USER@FIRST [--broker]", "Join the cluster that was created on FIRST" },
        { "sign", 0, 1, ADDRESS | BROKER | REPLACE | RENEW | OUTPUT | CHANGES, ald_cluster_sign,
                "sign [FILE|DIR] [--broker [--address=HOST]]",
                "Sign a node's request to join, or all requests in a folder" },
        { "sign-bridge", 1, 2, REPLACE | OUTPUT | CHANGES, ald_cluster_sign_bridge,
                "sign-bridge SITE [FILE] [--output=FILE]",
                "Sign a bridge certificate for a node that is a broker" },
        { "renew", 0, 1, ADDRESS | BROKER | REQUEST | ACCEPT | REPLACE | AUTO | CHANGES, ald_cluster_renew,
                "renew [USER@FIRST]", "Renew the certificates and the list of brokers of this node" },
        { "certificates", 0, 0, JSON, ald_cluster_certificates, "certificates",
                "List the certificates that were signed on this machine" },
        { "revoke", 1, 1, CHANGES, ald_cluster_revoke, "revoke NODE", "Revoke the certificates of a node" },
        { "leave", 0, 0, FORCE | CHANGES, ald_cluster_leave, "leave [--force]",
                "Leave the cluster and remove the keys of this node" },
        { "backup", 1, 1, CHANGES, ald_cluster_backup, "backup FILE",
                "Save the keys of the cluster to a file, encrypted with a passphrase" },
        { "restore", 1, 1, CHANGES, ald_cluster_restore, "restore FILE",
                "Restore the keys of the cluster to this machine from a backup" },
        { "install-crl", 0, 0, CHANGES, ald_cluster_install_crl, "install-crl",
                "Install the revocation list that the cluster service received" },
};

static const struct {
        unsigned option;
        const char *name;
} names[] = {
        { ADDRESS, "--address" },
        { NO_BROKER, "--no-broker" },
        { BROKER, "--broker" },
        { REQUEST, "--request" },
        { ACCEPT, "--accept" },
        { REPLACE, "--replace" },
        { RENEW, "--renew" },
        { OUTPUT, "--output" },
        { FORCE, "--force" },
        { JSON, "--json" },
        { HOST, "--host" },
        { AUTO, "--auto" },
        { CHECK, "--check" },
};

static int help(void)
{
        puts("Usage: alidadectl cluster [VERB] [OPTION…]\n\n"
             "Create, join and maintain a cluster of nodes that trust each other.\n\n"
             "Verbs (default: status):");
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                printf("  %-46s  %s\n", verbs[i].usage, verbs[i].help);
        puts("\nOptions:\n"
             "  -h --help           Show this help\n"
             "     --address=HOST   Name or address of the broker on this machine; other nodes use the "
             "first; sign: what a request may name\n"
             "     --no-broker      init: do not run a broker on this machine\n"
             "     --broker         join, renew: run a broker on this machine; sign: allow the node to be a "
             "broker\n"
             "     --request        join, renew: write a request to the file or to standard output\n"
             "     --accept         join, renew: take the signed bundle from the file or from standard "
             "input\n"
             "     --replace        sign, sign-bridge, join, renew: revoke an existing certificate for "
             "another key\n"
             "     --renew          sign: sign even if the node already has a certificate for the same key\n"
             "     --auto           renew: only what expires soon, through the brokers, as the daily timer "
             "does\n"
             "     --output=FILE    sign, sign-bridge: write to this file instead of to standard output\n"
             "     --force          leave: even if this node keeps the keys of the cluster\n"
             "     --check          Only report what would be changed\n"
             "     --json[=MODE]    status, certificates: print JSON: short, pretty or off; other verbs: "
             "print the "
             "changes as JSON\n"
             "\n"
             "See alidadectl(1).");
        return ald_print_finish();
}

/* Returns an exit code if there is nothing more to do, else -1. */
static int take_option(int c, AldClusterCommand *command)
{
        switch (c) {
        case 'h':
                return help();
        case 'H':
                command->ctl.host = optarg;
                break;
        case JSON:
                return ald_json_parse_mode(optarg, &command->ctl.json) < 0 ? ALD_EXIT_USAGE : -1;
        case ADDRESS:
                g_ptr_array_add(command->addresses, optarg);
                break;
        case NO_BROKER:
                command->no_broker = true;
                break;
        case BROKER:
                command->broker = true;
                break;
        case REQUEST:
                command->request = true;
                break;
        case ACCEPT:
                command->accept = true;
                break;
        case REPLACE:
                command->replace = true;
                break;
        case RENEW:
                command->renew = true;
                break;
        case AUTO:
                command->automatic = true;
                break;
        case OUTPUT:
                command->output = optarg;
                break;
        case FORCE:
                command->force = true;
                break;
        case CHECK:
                command->changes->check = true;
                break;
        default:
                return ALD_EXIT_USAGE;
        }
        return -1;
}

/* *ret_given are the options. */
static int parse_options(int argc, char **argv, AldClusterCommand *command, unsigned *ret_given)
{
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "host", required_argument, NULL, 'H' },
                { "json", optional_argument, NULL, JSON },
                { "address", required_argument, NULL, ADDRESS },
                { "no-broker", no_argument, NULL, NO_BROKER },
                { "broker", no_argument, NULL, BROKER },
                { "request", no_argument, NULL, REQUEST },
                { "accept", no_argument, NULL, ACCEPT },
                { "replace", no_argument, NULL, REPLACE },
                { "renew", no_argument, NULL, RENEW },
                { "auto", no_argument, NULL, AUTO },
                { "output", required_argument, NULL, OUTPUT },
                { "force", no_argument, NULL, FORCE },
                { "check", no_argument, NULL, CHECK },
                {},
        };
        unsigned given = 0;
        int c, r;

        while ((c = getopt_long(argc, argv, ":hH:", options, NULL)) >= 0) {
                r = c == '?' || c == ':' ? ald_print_option_error(argv, c, options) : take_option(c, command);
                if (r >= 0)
                        return r;
                given |= c == 'H' ? HOST : (unsigned) c;
        }
        *ret_given = given;
        return -1;
}

static int run_verb(const Verb *verb, unsigned given, const AldClusterCommand *command)
{
        int r;

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (given & names[i].option & ~verb->options) {
                        ald_print_error("%s cannot be used with cluster %s", names[i].name, verb->name);
                        return ALD_EXIT_USAGE;
                }
        if (command->n_args < verb->min_args || command->n_args > verb->max_args) {
                ald_print_error("Usage: alidadectl cluster %s", verb->usage);
                return ALD_EXIT_USAGE;
        }
        command->changes->json = command->ctl.json != ALD_JSON_OFF;
        r = verb->run(command);
        return verb->options & CHECK && r != ALD_EXIT_USAGE
                       ? ald_changes_finish(command->changes, &command->ctl, r)
                       : r;
}

/* What shared code of the services says is said in our way. */
static GLogWriterOutput write_log(
        GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer userdata)
{
        for (gsize i = 0; i < n_fields && level <= G_LOG_LEVEL_WARNING; i++)
                if (strcmp(fields[i].key, "MESSAGE") == 0)
                        ald_print_error("%s", (const char *) fields[i].value);
        return G_LOG_WRITER_HANDLED;
}

static int unknown_verb(const char *name)
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
        g_autoptr(GPtrArray) addresses = g_ptr_array_new();
        g_auto(AldChanges) changes = {};
        AldClusterCommand command = { .addresses = addresses, .changes = &changes };
        const char *name = "status";
        unsigned given;
        int r;

        ald_ctl_init(&command.ctl);
        ald_changes_init(&changes);
        g_log_set_writer_func(write_log, NULL, NULL);
        r = parse_options(argc, argv, &command, &given);
        if (r >= 0)
                return r;
        command.ctl.args = argv + optind;
        command.n_args = (unsigned) (argc - optind);
        if (command.n_args > 0) {
                name = *command.ctl.args++;
                command.n_args--;
        }
        if (strcmp(name, "help") == 0)
                return help();
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return run_verb(&verbs[i], given, &command);
        return unknown_verb(name);
}
