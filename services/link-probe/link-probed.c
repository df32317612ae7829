/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/link-probe/link-probe-bus.h"

typedef struct LinkProbeService {
        AldLinkProbeManager *manager;
        AldLinkProbeBus *bus;
} LinkProbeService;

static void link_probe_stop(void *userdata)
{
        LinkProbeService *service = userdata;

        ald_link_probe_bus_free(service->bus);
        ald_link_probe_manager_free(service->manager);
        g_free(service);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LinkProbeService, link_probe_stop)

static void link_probe_reload(void *userdata)
{
        LinkProbeService *service = userdata;

        ald_link_probe_manager_configure(service->manager);
}

static int link_probe_start(AldService *service, void **ret_manager)
{
        g_autoptr(LinkProbeService) link_probe = g_new0(LinkProbeService, 1);
        int r;

        r = ald_link_probe_manager_new(service, &link_probe->manager);
        if (r >= 0)
                r = ald_link_probe_bus_new(service, link_probe->manager, &link_probe->bus);
        if (r < 0)
                return r;
        *ret_manager = g_steal_pointer(&link_probe);
        return 0;
}

static const AldServiceInfo info = {
        .name = "alidade-link-probed",
        .description = "Measures the links of this machine to the other nodes of its cluster.",
        .bus_name = "org.alidade.LinkProbe1",
        .config_keys = ald_link_probe_config_keys,
        .start = link_probe_start,
        .reload = link_probe_reload,
        .stop = link_probe_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
