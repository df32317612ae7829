/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <string.h>

#include "clients/alidadectl/links/probe.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/node-summary.h"

#define LABEL_COLUMNS 60u

#define NAME(id, name, arguments) name
#define USAGE(id, name, arguments) "alidadectl probe " name " " arguments
#define VERB(id, name, arguments)                                       \
        {                                                               \
                name, USAGE(id, name, arguments), &ald_probe_words_##id \
        }
#define COMMA ,

typedef struct ProbeVerb {
        const char *name, *usage;
        const AldProbeWords *words;
} ProbeVerb;

static const ProbeVerb verbs[] = { ALD_PROBE_LINK_VERBS(VERB, COMMA), ALD_PROBE_LOCAL_VERBS(VERB, COMMA) };
static const char *const names[] = { ALD_PROBE_LINK_VERBS(NAME, COMMA), ALD_PROBE_LOCAL_VERBS(NAME, COMMA),
        NULL };
static const char *const names_before_node[] = { ALD_PROBE_LINK_VERBS(NAME, COMMA), NULL };

static const char *const metric_names[] = { "gemm", "read", "copy", "peak", "to-device", "to-host", NULL };

static bool read_metrics(void *order, const char *value)
{
        AldProbeOrder *probe = order;

        g_strfreev(probe->call.metrics);
        probe->call.metrics = g_strsplit(value, ",", -1);
        return true;
}

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(RAW, "path", "ADDRESS", AldProbeOrder, call.address,
                "Only the path to this address of the node (default: all)"),
        ALD_OPTION(FLAG, "rtt-only", NULL, AldProbeOrder, rtt_only, "Only round trips, no rates"),
        ALD_OPTION(TEXT, "port", "DEV.PORT", AldProbeOrder, call.port,
                "Only this RDMA port of this machine, such as mlx5_0.1; all, if not given"),
        ALD_OPTION(TEXT, "peer-port", "DEV.PORT", AldProbeOrder, call.peer_port, "Only this one of the node"),
        { .name = "metric",
                .argument = "METRIC",
                .help = "gemm, read, copy, peak, to-device or to-host, or several separated by\n"
                        "commas; all that apply to the device, if not given",
                .kind = ALD_OPTION_READ,
                .words = metric_names,
                .is_list = true,
                .read = read_metrics },
        ALD_OPTION(
                FLAG, "force", NULL, AldProbeOrder, call.force, "Measure devices even alongside other work"),
        ALD_OPTION_HOST("Measure from another machine, over ssh"),
        ALD_OPTION_JSON("Print JSON: short, pretty or off"),
        ALD_OPTION_NO_ASK_PASSWORD,
        {},
};

const AldSynopsis ald_probe_synopsis = {
        .usage = ALD_PROBE_LINK_VERBS(USAGE, "\n") "\n" ALD_PROBE_LOCAL_VERBS(USAGE, "\n"),
        .intro = "Measure " ALD_PROBE_SUBJECTS " now.\n"
                 "Ctrl-C cancels the probe; a second Ctrl-C exits at once.",
        .options = options,
        .first_words = names,
        .before_node = names_before_node,
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

/* Returns an address in the canonical form that records use; NULL if it is not an address. */
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
        order->call.id = node->id;
        order->label = label;
        return ald_probe_run(order);
}

static int probe_this_machine(AldProbeOrder *order, const char *device)
{
        g_autofree char *safe = ald_text_safe(device ?: ""), *label = NULL;

        label = device ? ald_text_cut(safe, LABEL_COLUMNS) : g_strdup(order->call.words->all);
        order->call.id = device ?: "";
        order->label = label;
        return ald_probe_run(order);
}

static bool has_option_of_another(const AldCtl *ctl, const AldProbeWords *words)
{
        for (const AldOption *option = options; option->name; option++)
                if (option->kind != ALD_OPTION_COMMON && !g_strv_contains(words->options, option->name) &&
                        ald_options_have(&ald_probe_synopsis, ctl, option->name))
                        return true;
        return false;
}

static int run_probe(const ProbeVerb *verb, AldProbeOrder *order, char **args)
{
        const char *given = order->call.address;
        g_autofree char *address = given ? parse_address(given) : NULL;
        guint n = g_strv_length(args);

        order->call.words = order->rtt_only ? &ald_probe_words_rtt : verb->words;
        order->call.address = address;
        if (n > 1 || (n == 0 && !verb->words->all) || has_option_of_another(&order->ctl, verb->words))
                ald_print_error("Usage: %s", verb->usage);
        else if (given && !address)
                ald_print_error("--path=%s: not an IPv4 or IPv6 address", given);
        else if (verb->words->all && n > 0 && !g_utf8_validate(args[0], -1, NULL))
                ald_print_error("The name of a device must be UTF-8");
        else if (check_metrics(order->call.metrics))
                return verb->words->all ? probe_this_machine(order, args[0]) : probe_node(order, args[0]);
        return ALD_EXIT_USAGE;
}

int ald_verb_probe(const AldCtl *ctl)
{
        AldProbeOrder order = { .ctl = *ctl };
        g_autofree char **args = NULL;
        const ProbeVerb *verb = NULL;
        int r = ald_options_read(&ald_probe_synopsis, &order, &args);

        for (size_t i = 0; r < 0 && args[0] && i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(args[0], verbs[i].name) == 0)
                        verb = &verbs[i];
        if (r < 0)
                r = verb ? run_probe(verb, &order, args + 1) : ald_options_print_usage(&ald_probe_synopsis);
        g_strfreev(order.call.metrics);
        return r;
}
