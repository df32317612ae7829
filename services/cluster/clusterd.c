/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/cluster/cluster-bus.h"

typedef struct ClusterService {
        AldClusterManager *manager;
        AldClusterBus *bus;
} ClusterService;

static void cluster_stop(void *userdata)
{
        ClusterService *cluster = userdata;

        ald_cluster_bus_free(cluster->bus);
        ald_cluster_manager_free(cluster->manager);
        ald_brokers_quit();
        g_free(cluster);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ClusterService, cluster_stop)

static void cluster_name_owned(void *userdata)
{
        ClusterService *cluster = userdata;

        ald_cluster_manager_begin(cluster->manager);
}

static void cluster_reload(void *userdata)
{
        ClusterService *cluster = userdata;

        ald_cluster_manager_configure(cluster->manager);
}

static int cluster_start(AldService *service, void **ret_manager)
{
        g_autoptr(ClusterService) cluster = g_new0(ClusterService, 1);
        int r;

        r = ald_brokers_init();
        if (r >= 0)
                r = ald_cluster_manager_new(service, &cluster->manager);
        if (r >= 0)
                r = ald_cluster_bus_new(service, cluster->manager, &cluster->bus);
        if (r < 0)
                return r;
        *ret_manager = g_steal_pointer(&cluster);
        return 0;
}

static const AldServiceInfo info = {
        .name = "alidade-clusterd",
        .description = "Connects this machine to its cluster, over MQTT with mutual TLS.",
        .bus_name = "org.alidade.Cluster1",
        .config_keys = ald_cluster_config_keys,
        .start = cluster_start,
        .name_owned = cluster_name_owned,
        .reload = cluster_reload,
        .stop = cluster_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
