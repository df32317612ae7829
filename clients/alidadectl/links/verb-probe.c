/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/links/probe.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"
#include "clients/command-line/text.h"
#include "clients/common/node-summary.h"

#define LABEL_COLUMNS 60u

#define USAGE_LINK "alidadectl probe link NODE [--path=ADDRESS] [--rtt-only]"
#define USAGE_RDMA "alidadectl probe rdma NODE [--port=DEV.PORT] [--peer-port=DEV.PORT]"
#define USAGE_COMPUTE "alidadectl probe compute [DEVICE] [--metric=METRIC…] [--force]"

static int help(void)
{
        puts("Usage: " USAGE_LINK "\n       " USAGE_RDMA "\n       " USAGE_COMPUTE "\n\n"
             "Measure the link to a node, over sockets or over RDMA, or a compute device of this machine\n"
             "(default: all of them) now.\n"
             "Ctrl-C cancels the probe; a second Ctrl-C exits at once.\n\n"
             "Options:\n"
             "  -h --help             Show this help\n"
             "     --path=ADDRESS     Only the path to this address of the node (default: all)\n"
             "     --rtt-only         Only round trips, no rates\n"
             "     --port=DEV.PORT    Only this RDMA port of this machine, such as mlx5_0.1; all, if not "
             "given\n"
             "     --peer-port=DEV.PORT\n"
             "                        Only this one of the node\n"
             "     --metric=METRIC    gemm, read, copy, peak, to-device or to-host, or several separated by\n"
             "                        commas; all that apply to the device, if not given\n"
             "     --force            Measure devices even alongside other work\n"
             "  -H --host=USER@HOST   Measure from another machine, over ssh\n"
             "     --json[=MODE]      Print JSON: short, pretty or off\n"
             "     --no-ask-password  Do not ask for a password\n\n"
             "See alidadectl(1).");
        return ald_print_finish();
}

/* Returns an exit code if there is nothing more to do, else -1. */
static int parse_options(int argc, char **argv, AldCtl *ctl, AldProbeOrder *order)
{
        enum { PATH = 0x100, RTT_ONLY, PORT, PEER_PORT, METRIC, FORCE };
        static const struct option options[] = {
                ALD_COMMON_OPTIONS,
                { "path", required_argument, NULL, PATH },
                { "rtt-only", no_argument, NULL, RTT_ONLY },
                { "port", required_argument, NULL, PORT },
                { "peer-port", required_argument, NULL, PEER_PORT },
                { "metric", required_argument, NULL, METRIC },
                { "force", no_argument, NULL, FORCE },
                {},
        };
        int c, r;

        while ((c = getopt_long(argc, argv, ":hH:", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        return help();
                case PATH:
                        order->address = optarg;
                        break;
                case RTT_ONLY:
                        order->rtt_only = true;
                        break;
                case PORT:
                        order->port = optarg;
                        break;
                case PEER_PORT:
                        order->peer_port = optarg;
                        break;
                case METRIC:
                        g_strfreev(order->metrics);
                        order->metrics = g_strsplit(optarg, ",", -1);
                        break;
                case FORCE:
                        order->force = true;
                        break;
                default:
                        r = ald_options_take(ctl, argv, c, options);
                        if (r >= 0)
                                return r;
                }
        return -1;
}

static bool check_metrics(char **metrics)
{
        static const char *const known[] = { "gemm", "read", "copy", "peak", "to-device", "to-host", NULL };

        for (; metrics && *metrics; metrics++)
                if (!g_strv_contains(known, *metrics)) {
                        ald_print_error("--metric: \"%s\" is not one of gemm, read, copy, peak, to-device "
                                        "and to-host",
                                *metrics);
                        return false;
                }
        return true;
}

/* The normal form of an address, as records have it; NULL if it is not an address. */
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
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autofree char *label = NULL;
        const AldEntity *node;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK)
                r = ald_session_find_node(&session, name, &node);
        if (r != ALD_EXIT_OK)
                return r;
        label = ald_entity_label(node);
        if (g_strcmp0(node->id, ald_model_node_id(session.model)) == 0) {
                ald_print_error("%s is this machine; specify another node", label);
                return ALD_EXIT_ERROR;
        }
        order->node = node->id;
        order->label = label;
        return ald_probe_run(order);
}

static int probe_link(const AldCtl *ctl, AldProbeOrder *order, char **args)
{
        g_autofree char *address = NULL;

        if (g_strv_length(args) != 1 || order->metrics || order->force || order->port || order->peer_port) {
                ald_print_error("Usage: " USAGE_LINK);
                return ALD_EXIT_USAGE;
        }
        if (order->address) {
                address = parse_address(order->address);
                if (!address) {
                        ald_print_error("--path=%s: not an IPv4 or IPv6 address", order->address);
                        return ALD_EXIT_USAGE;
                }
                order->address = address;
        }
        return probe_node(ctl, order, args[0]);
}

static int probe_rdma(const AldCtl *ctl, AldProbeOrder *order, char **args)
{
        if (g_strv_length(args) != 1 || order->metrics || order->force || order->address || order->rtt_only) {
                ald_print_error("Usage: " USAGE_RDMA);
                return ALD_EXIT_USAGE;
        }
        if ((order->port && !g_utf8_validate(order->port, -1, NULL)) ||
                (order->peer_port && !g_utf8_validate(order->peer_port, -1, NULL))) {
                ald_print_error("The name of a port must be UTF-8");
                return ALD_EXIT_USAGE;
        }
        order->rdma = true;
        return probe_node(ctl, order, args[0]);
}

static int probe_compute(AldProbeOrder *order, char **args)
{
        g_autofree char *safe = NULL, *label = NULL;

        if (g_strv_length(args) > 1 || order->address || order->rtt_only || order->port || order->peer_port) {
                ald_print_error("Usage: " USAGE_COMPUTE);
                return ALD_EXIT_USAGE;
        }
        order->device = args[0] ?: "";
        if (!g_utf8_validate(order->device, -1, NULL)) {
                ald_print_error("The name of a device must be UTF-8");
                return ALD_EXIT_USAGE;
        }
        if (!check_metrics(order->metrics))
                return ALD_EXIT_USAGE;
        safe = ald_text_safe(args[0] ?: "");
        label = args[0] ? ald_text_cut(safe, LABEL_COLUMNS) : g_strdup("the compute devices");
        order->label = label;
        return ald_probe_run(order);
}

int ald_verb_probe(const AldCtl *ctl)
{
        AldCtl own = *ctl;
        AldProbeOrder order = { .ctl = &own };
        g_autofree char **argv = NULL;
        char **args;
        int argc, r;

        argv = ald_options_begin(ctl, &argc);
        r = parse_options(argc, argv, &own, &order);
        args = argv + optind;
        if (r < 0 && g_strcmp0(args[0], "link") == 0) {
                r = probe_link(&own, &order, args + 1);
        } else if (r < 0 && g_strcmp0(args[0], "rdma") == 0) {
                r = probe_rdma(&own, &order, args + 1);
        } else if (r < 0 && g_strcmp0(args[0], "compute") == 0) {
                r = probe_compute(&order, args + 1);
        } else if (r < 0) {
                ald_print_error("Usage: " USAGE_LINK);
                ald_print_error("       " USAGE_RDMA);
                ald_print_error("       " USAGE_COMPUTE);
                r = ALD_EXIT_USAGE;
        }
        g_strfreev(order.metrics);
        return r;
}
