/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/placement/placement-bus.h"

static int placement_start(AldService *service, void **ret_manager)
{
        return ald_placement_bus_new(service, (AldPlacementBus **) ret_manager);
}

static void placement_stop(void *userdata)
{
        ald_placement_bus_free(userdata);
}

static const AldConfigKey no_keys[] = { { 0 } };

static const AldServiceInfo info = {
        .name = "alidade-placementd",
        .description = "Plans where a model runs best.",
        .bus_name = "org.alidade.Placement1",
        .config_keys = no_keys,
        .start = placement_start,
        .stop = placement_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
