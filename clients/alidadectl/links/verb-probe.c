/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/choose.h"
#include "clients/alidadectl/links/probe.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/session.h"

#define USAGE "alidadectl probe link NODE [--path=ADDRESS] [--rtt-only]"

static int help(void)
{
        puts("Usage: " USAGE "\n\n"
             "Measure the link to a node now. Ctrl-C cancels it.\n\n"
             "Options:\n"
             "  -h --help             Show this help\n"
             "     --path=ADDRESS     Only the path to this address of the node; all, if not given\n"
             "     --rtt-only         Only round trips, no rates\n"
             "  -H --host=USER@HOST   Have another machine do it, over ssh\n"
             "     --json[=MODE]      Print JSON: short, pretty or off\n"
             "     --no-ask-password  Do not ask for a password\n\n"
             "See alidadectl(1).");
        return ald_print_finish();
}

/* Returns an exit code where there is nothing more to do, else -1. */
static int parse_options(int argc, char **argv, AldCtl *ctl, AldProbeOrder *order)
{
        enum { PATH = 0x100, RTT_ONLY, JSON, NO_PAGER, NO_ASK_PASSWORD };
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "host", required_argument, NULL, 'H' },
                { "json", optional_argument, NULL, JSON },
                { "path", required_argument, NULL, PATH },
                { "rtt-only", no_argument, NULL, RTT_ONLY },
                { "no-pager", no_argument, NULL, NO_PAGER },
                { "no-ask-password", no_argument, NULL, NO_ASK_PASSWORD },
                {},
        };
        int c;

        optind = 0; /* begin anew, with these arguments */
        while ((c = getopt_long(argc, argv, "hH:", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        return help();
                case 'H':
                        ctl->host = optarg;
                        break;
                case JSON:
                        if (ald_json_parse_mode(optarg, &ctl->json) < 0)
                                return ALD_EXIT_USAGE;
                        break;
                case PATH:
                        order->address = optarg;
                        break;
                case RTT_ONLY:
                        order->rtt_only = true;
                        break;
                case NO_PAGER:
                        ctl->pager = false;
                        break;
                case NO_ASK_PASSWORD:
                        ctl->ask_password = false;
                        break;
                default:
                        return ALD_EXIT_USAGE;
                }
        return -1;
}

/* An address as it is written in the records, by any way to write it; NULL where it is none. */
static char *parse_address(const char *text)
{
        size_t length = strcspn(text, "%");
        g_autofree char *address = g_strndup(text, length);
        char canonical[INET6_ADDRSTRLEN];
        struct in6_addr parsed;
        bool is_ipv4 = inet_pton(AF_INET, address, &parsed) == 1 && text[length] == '\0';

        if (!is_ipv4 && (inet_pton(AF_INET6, address, &parsed) != 1 || !g_utf8_validate(text, -1, NULL)))
                return NULL;
        if (!inet_ntop(is_ipv4 ? AF_INET : AF_INET6, &parsed, canonical, sizeof(canonical)))
                return NULL;
        return g_strconcat(canonical, text + length, NULL);
}

static int probe_node(const AldCtl *ctl, AldProbeOrder *order, const char *name)
{
        g_auto(AldSession) session = ALD_SESSION_INIT;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK)
                r = ald_choose_node(session.model, name, &order->node);
        if (r != ALD_EXIT_OK)
                return r;
        if (g_strcmp0(order->node->id, ald_model_node_id(session.model)) == 0) {
                ald_complain("%s is the machine that would probe; name another node", order->node->label);
                return ALD_EXIT_ERROR;
        }
        return ald_probe_run(order);
}

int ald_verb_probe(const AldCtl *ctl)
{
        AldCtl own = *ctl;
        AldProbeOrder order = { .ctl = &own };
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_autofree char *address = NULL;
        char **args;
        int r;

        g_ptr_array_add(argv, (char *) "alidadectl");
        for (char **arg = ctl->args; *arg; arg++)
                g_ptr_array_add(argv, *arg);
        g_ptr_array_add(argv, NULL);
        r = parse_options((int) argv->len - 1, (char **) argv->pdata, &own, &order);
        if (r >= 0)
                return r;
        args = (char **) argv->pdata + optind;
        if (g_strv_length(args) != 2 || strcmp(args[0], "link") != 0) {
                ald_complain("Usage: " USAGE);
                return ALD_EXIT_USAGE;
        }
        if (order.address) {
                address = parse_address(order.address);
                if (!address) {
                        ald_complain("--path=%s: this is no IPv4 or IPv6 address", order.address);
                        return ALD_EXIT_USAGE;
                }
                order.address = address;
        }
        return probe_node(&own, &order, args[1]);
}
