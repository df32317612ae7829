/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "common/node-id.h"
#include "services/state/cluster-peer-bus.h"
#include "services/state/doubt-watch.h"
#include "services/state/link-source-bus.h"
#include "services/state/objects-bus.h"
#include "services/state/refused-settings-bus.h"
#include "services/state/signals.h"
#include "services/state/sources-bus.h"
#include "services/state/state-bus.h"

typedef struct StateService {
        AldService *service;
        AldStateManager *manager;
        AldSignals *signals;
        AldObjects *objects;
        AldClusterPeer *cluster;
        AldSources *sources;
        AldLinkSource *links;
        AldRefusedSettings *refused;
        AldDoubtWatch *doubts;
        AldStateBus *bus;
} StateService;

static void state_stop(void *userdata)
{
        StateService *state = userdata;

        ald_doubt_watch_free(state->doubts);
        ald_state_bus_free(state->bus);
        ald_refused_settings_free(state->refused);
        ald_link_source_free(state->links);
        ald_sources_free(state->sources);
        ald_cluster_peer_free(state->cluster);
        ald_objects_free(state->objects);
        ald_signals_free(state->signals);
        ald_state_manager_free(state->manager);
        g_free(state);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StateService, state_stop)

static void state_name_owned(void *userdata)
{
        StateService *state = userdata;

        ald_state_manager_begin_saving(state->manager);
}

static void state_reload(void *userdata)
{
        StateService *state = userdata;

        ald_state_manager_configure(state->manager, ald_service_config(state->service));
}

static int new_manager(StateService *state, AldId *ret_local)
{
        char id[ALD_ID_STRING_SIZE];
        int r;

        r = ald_node_id(id);
        if (r >= 0)
                r = ald_id_parse(id, ret_local);
        if (r < 0)
                return r;
        state->manager = ald_state_manager_new(ret_local, ald_service_config(state->service));
        return 0;
}

static int state_start(AldService *service, void **ret_manager)
{
        g_autoptr(StateService) state = g_new0(StateService, 1);
        AldId local;
        int r;

        state->service = service;
        r = new_manager(state, &local);
        if (r >= 0)
                r = ald_objects_new(service, state->manager, &state->objects);
        if (r >= 0)
                r = ald_signals_new(service, state->manager, &state->signals);
        if (r >= 0)
                r = ald_cluster_peer_new(service, state->manager, &state->cluster);
        if (r >= 0)
                r = ald_state_bus_new(
                        service, state->manager, state->cluster, state->signals, &local, &state->bus);
        if (r >= 0)
                r = ald_sources_new(service, state->manager, &state->sources);
        if (r >= 0)
                r = ald_link_source_new(service, state->manager, &state->links);
        if (r >= 0)
                r = ald_refused_settings_new(service, state->manager, &state->refused);
        if (r < 0)
                return r;
        state->doubts = ald_doubt_watch_new(state->manager);
        *ret_manager = g_steal_pointer(&state);
        return 0;
}

static const AldServiceInfo info = {
        .name = "alidade-stated",
        .description = "Merges the records of all nodes of the cluster and provides them on D-Bus.",
        .bus_name = "org.alidade.State1",
        .config_keys = ald_state_config_keys,
        .start = state_start,
        .name_owned = state_name_owned,
        .reload = state_reload,
        .stop = state_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
