/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/history-peer-bus.h"
#include "common/bus-names.h"
#include "services/common/peer.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

struct AldHistoryPeer {
        AldService *service;
        AldStateManager *manager;
        AldFindingsWatch *findings;
        AldPeer *peer;
        sd_bus_slot *reading; /* Get() in progress */
};

static void set_problem(AldHistoryPeer *history, const char *problem)
{
        ald_state_manager_set_history_problem(history->manager, problem && *problem ? problem : NULL);
        ald_findings_watch_refresh(history->findings);
}

static int on_problem(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldHistoryPeer *history = userdata;
        const char *problem;

        history->reading = sd_bus_slot_unref(history->reading);
        if (!sd_bus_message_is_method_error(reply, NULL) &&
                sd_bus_message_read(reply, "v", "s", &problem) >= 0)
                set_problem(history, problem);
        return 0;
}

/* Reads the property. The call goes to the unique name, so that it does not start a service that has ended
 * meanwhile. */
static void read_problem(AldHistoryPeer *history)
{
        int r;

        history->reading = sd_bus_slot_unref(history->reading);
        r = sd_bus_call_method_async(ald_service_bus(history->service), &history->reading,
                ald_peer_owner(history->peer), ALD_HISTORY_PATH, PROPERTIES, "Get", on_problem, history, "ss",
                ALD_HISTORY_INTERFACE, "Problem");
        if (r < 0)
                g_warning("Failed to call %s: %s", ALD_HISTORY_NAME, g_strerror(-r));
}

/* Reads the property again, since several properties may have changed, and this happens rarely. */
static int on_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        read_problem(userdata);
        return 0;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        AldHistoryPeer *history = userdata;

        history->reading = sd_bus_slot_unref(history->reading);
        set_problem(history, NULL);
        if (owner)
                read_problem(history);
}

int ald_history_peer_new(
        AldService *service, AldStateManager *manager, AldFindingsWatch *findings, AldHistoryPeer **ret)
{
        g_autoptr(AldHistoryPeer) history = g_new0(AldHistoryPeer, 1);
        int r;

        history->service = service;
        history->manager = manager;
        history->findings = findings;
        r = ald_peer_new(
                service, ald_service_bus(service), ALD_HISTORY_NAME, on_owner, history, &history->peer);
        if (r >= 0)
                r = ald_peer_match_signal(history->peer, ALD_HISTORY_PATH, PROPERTIES, "PropertiesChanged",
                        ALD_HISTORY_INTERFACE, on_changed);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&history);
        return 0;
}

void ald_history_peer_free(AldHistoryPeer *history)
{
        if (!history)
                return;
        sd_bus_slot_unref(history->reading);
        ald_peer_free(history->peer);
        g_free(history);
}
