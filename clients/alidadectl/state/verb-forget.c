/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>

#include "clients/alidadectl/agent.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/common/node-summary.h"

static int call_forget(sd_bus *bus, const char *id, bool interactive, sd_bus_error *error)
{
        g_autoptr(AldMessage) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(
                bus, &m, ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE, "Forget");
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(m, interactive);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", id);
        if (r >= 0)
                r = sd_bus_call(bus, m, interactive ? ALD_ASKING_USEC : 0, error, NULL);
        return r;
}

/* Opens a connection of its own, since the session's connection ended with its loop. */
static int forget_node(const AldCtl *ctl, const AldEntity *node)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        g_autofree char *label = NULL, *what = NULL;
        int agent, r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_bus_await(bus, ALD_CLUSTER_NAME, &error);
        if (r >= 0) {
                agent = ald_agent_start(ctl);
                r = call_forget(bus, node->id, ald_agent_may_ask(ctl), &error);
                ald_agent_stop(agent);
        }
        label = ald_entity_label(node);
        if (r >= 0)
                return ald_print_done(
                        "Hid %s (%s) on every machine of the cluster until it is back", label, node->id);
        if (!sd_bus_error_is_set(&error))
                (void) sd_bus_error_set_errno(&error, r);
        what = g_strdup_printf("Cannot forget %s", label);
        return ald_bus_print_error(&error, what, ALD_CLUSTER_UNIT);
}

/* Says what forgetting would do. The cluster service refuses to forget a node that is online. */
static int print_effect(const AldEntity *node)
{
        const AldPresence *presence = ald_entity_as(node, PRESENCE, AldPresence);
        g_autofree char *label = ald_entity_label(node);

        if (presence && g_strcmp0(presence->state, "online") == 0) {
                ald_print_error("Cannot forget %s: it is online", label);
                return ALD_EXIT_ERROR;
        }
        return ald_print_done(
                "Would hide %s (%s) on every machine of the cluster until it is back", label, node->id);
}

int ald_verb_forget(const AldCtl *ctl)
{
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autofree char *label = NULL;
        const AldEntity *node;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        /* A second run does not find the node that the first has hidden; only an id is sure to mean the same
         * node. */
        if (ald_is_node_id(ctl->args[0]) &&
                ald_model_find(session.model, ctl->args[0], &node, candidates) == -ENOENT) {
                printf("There %s nothing to do: node %s is not known\n", ctl->check ? "is" : "was",
                        ctl->args[0]);
                return ald_print_finish();
        }
        r = ald_session_find_node(&session, ctl->args[0], &node);
        if (r != ALD_EXIT_OK)
                return r;
        if (g_strcmp0(node->id, ald_model_node_id(session.model)) == 0) {
                label = ald_entity_label(node);
                ald_print_error(
                        "%s is this machine and cannot forget itself; to leave the cluster, use \"alidadectl "
                        "cluster leave\"",
                        label);
                return ALD_EXIT_ERROR;
        }
        return ctl->check ? print_effect(node) : forget_node(ctl, node);
}
