/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
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

static const char *const metric_names[] = { "gemm", "read", "copy", "peak", "to-device", "to-host", NULL };

static bool read_metrics(void *order, const char *value)
{
        AldProbeOrder *probe = order;

        g_strfreev(probe->metrics);
        probe->metrics = g_strsplit(value, ",", -1);
        return true;
}

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(RAW, "path", "ADDRESS", AldProbeOrder, address,
                "Only the path to this address of the node (default: all)"),
        ALD_OPTION(FLAG, "rtt-only", NULL, AldProbeOrder, rtt_only, "Only round trips, no rates"),
        ALD_OPTION(TEXT, "port", "DEV.PORT", AldProbeOrder, port,
                "Only this RDMA port of this machine, such as mlx5_0.1; all, if not given"),
        ALD_OPTION(TEXT, "peer-port", "DEV.PORT", AldProbeOrder, peer_port, "Only this one of the node"),
        { .name = "metric",
                .argument = "METRIC",
                .help = "gemm, read, copy, peak, to-device or to-host, or several separated by\n"
                        "commas; all that apply to the device, if not given",
                .kind = ALD_OPTION_READ,
                .words = metric_names,
                .is_list = true,
                .read = read_metrics },
        ALD_OPTION(FLAG, "force", NULL, AldProbeOrder, force, "Measure devices even alongside other work"),
        ALD_OPTION_HOST("Measure from another machine, over ssh"),
        ALD_OPTION_JSON("Print JSON: short, pretty or off"),
        ALD_OPTION_NO_ASK_PASSWORD,
        {},
};

static const char *const probes[] = { "link", "rdma", "compute", NULL };
static const char *const probes_of_nodes[] = { "link", "rdma", NULL };

const AldSynopsis ald_probe_synopsis = {
        .usage = USAGE_LINK "\n" USAGE_RDMA "\n" USAGE_COMPUTE,
        .intro =
                "Measure the link to a node, over sockets or over RDMA, or a compute device of this machine\n"
                "(default: all of them) now.\n"
                "Ctrl-C cancels the probe; a second Ctrl-C exits at once.",
        .options = options,
        .first_words = { probes },
        .before_node = probes_of_nodes,
};

static bool check_metrics(char **metrics)
{
        for (; metrics && *metrics; metrics++)
                if (!g_strv_contains(metric_names, *metrics)) {
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

static int probe_node(AldProbeOrder *order, const char *name)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autofree char *label = NULL;
        const AldEntity *node;
        int r;

        r = ald_session_load(&session, &order->ctl, false);
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

static int probe_link(AldProbeOrder *order, char **args)
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
        return probe_node(order, args[0]);
}

static int probe_rdma(AldProbeOrder *order, char **args)
{
        if (g_strv_length(args) != 1 || order->metrics || order->force || order->address || order->rtt_only) {
                ald_print_error("Usage: " USAGE_RDMA);
                return ALD_EXIT_USAGE;
        }
        order->rdma = true;
        return probe_node(order, args[0]);
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
        AldProbeOrder order = { .ctl = *ctl };
        g_autofree char **args = NULL;
        int r = ald_options_read(&ald_probe_synopsis, &order, &args);

        if (r < 0 && g_strcmp0(args[0], "link") == 0) {
                r = probe_link(&order, args + 1);
        } else if (r < 0 && g_strcmp0(args[0], "rdma") == 0) {
                r = probe_rdma(&order, args + 1);
        } else if (r < 0 && g_strcmp0(args[0], "compute") == 0) {
                r = probe_compute(&order, args + 1);
        } else if (r < 0) {
                r = ald_options_print_usage(&ald_probe_synopsis);
        }
        g_strfreev(order.metrics);
        return r;
}
