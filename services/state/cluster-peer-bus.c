/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/cluster-peer-bus.h"
#include "common/bus-cleanup.h"
#include "record/update-bus.h"
#include "services/common/peer.h"
#include "services/state/object-paths.h"
#include "services/state/presences.h"
#include "services/state/records-bus.h"

#define CLUSTER_NAME "org.alidade.Cluster1"

/* Maximum bytes of records in one signal; a single record may be larger by itself. */
#define SIGNAL_MAX (1024u * 1024)

struct AldClusterPeer {
        AldService *service;
        AldStateManager *manager;
        AldPeer *peer;
        GHashTable *changed; /* set of AldEntry of this node */
        guint send_source;
};

/* Sends one signal with the next entries, up to its limit. */
static int send_one_signal(AldClusterPeer *cluster, GHashTableIter *iter, gpointer *entry, bool *more)
{
        g_autoptr(AldMessage) signal = NULL;
        size_t bytes = 0;
        int r;

        r = sd_bus_message_new_signal(ald_service_bus(cluster->service), &signal, ALD_STATE_PATH,
                "org.alidade.State1", "RecordsChanged");
        if (r >= 0)
                r = sd_bus_message_set_destination(signal, ald_peer_owner(cluster->peer));
        if (r >= 0)
                r = sd_bus_message_open_container(signal, 'a', ALD_UPDATE_SIGNATURE);
        while (r >= 0 && *more) {
                size_t size = ald_records_bus_size(*entry);

                if (bytes > 0 && bytes + size > SIGNAL_MAX)
                        break;
                r = ald_records_bus_append(signal, *entry);
                bytes += size;
                *more = g_hash_table_iter_next(iter, entry, NULL);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(signal);
        return r < 0 ? r : sd_bus_send(NULL, signal, NULL);
}

static int send_changed(AldClusterPeer *cluster)
{
        GHashTableIter iter;
        gpointer entry;
        bool more;
        int r = 0;

        g_hash_table_iter_init(&iter, cluster->changed);
        more = g_hash_table_iter_next(&iter, &entry, NULL);
        while (r >= 0 && more)
                r = send_one_signal(cluster, &iter, &entry, &more);
        return r;
}

static gboolean on_send(gpointer userdata)
{
        AldClusterPeer *cluster = userdata;
        int r;

        cluster->send_source = 0;
        if (!ald_peer_owner(cluster->peer)) {
                g_hash_table_remove_all(cluster->changed);
                return G_SOURCE_REMOVE;
        }
        r = send_changed(cluster);
        if (r < 0)
                g_warning("Failed to send RecordsChanged: %s", g_strerror(-r));
        g_hash_table_remove_all(cluster->changed);
        return G_SOURCE_REMOVE;
}

/* Collects changes, which are sent from the main loop, so that all changes by one message are sent
 * together. */
static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldClusterPeer *cluster = userdata;

        if (!entry->node->local || ald_kinds[entry->kind].local || !ald_peer_owner(cluster->peer))
                return;
        g_hash_table_add(cluster->changed, entry);
        if (cluster->send_source == 0)
                cluster->send_source = g_idle_add_full(G_PRIORITY_DEFAULT, on_send, cluster, NULL);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldClusterPeer *cluster = userdata;

        g_hash_table_remove(cluster->changed, entry);
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        AldClusterPeer *cluster = userdata;

        ald_service_exempt_reader(cluster->service, owner);
        /* A new owner reports all presences again. */
        ald_presences_set_unknown(cluster->manager);
        if (owner)
                ald_state_manager_new_cluster(cluster->manager);
}

int ald_cluster_peer_new(AldService *service, AldStateManager *manager, AldClusterPeer **ret)
{
        g_autoptr(AldClusterPeer) cluster = g_new0(AldClusterPeer, 1);
        int r;

        cluster->service = service;
        cluster->manager = manager;
        cluster->changed = g_hash_table_new(NULL, NULL);
        r = ald_peer_new(service, ald_service_bus(service), CLUSTER_NAME, on_owner, cluster, &cluster->peer);
        if (r < 0)
                return r;
        ald_state_manager_watch(manager, on_changed, on_removing, cluster);
        *ret = g_steal_pointer(&cluster);
        return 0;
}

void ald_cluster_peer_free(AldClusterPeer *cluster)
{
        if (!cluster)
                return;
        g_clear_handle_id(&cluster->send_source, g_source_remove);
        ald_peer_free(cluster->peer);
        g_hash_table_unref(cluster->changed);
        g_free(cluster);
}

bool ald_cluster_peer_is_sender(AldClusterPeer *cluster, sd_bus_message *message)
{
        const char *owner = ald_peer_owner(cluster->peer);

        return owner && g_strcmp0(sd_bus_message_get_sender(message), owner) == 0;
}
