/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What clusterd sees of Avahi: a line on stdout for each change. The cluster is ALIDADE_SAMPLE_CLUSTER. */
#include <stdio.h>

#include "services/cluster/mqtt/discovery-bus.h"

static void on_discovered(const AldBrokerAddress *addresses, size_t n, void *userdata)
{
        printf("found");
        for (size_t i = 0; i < n; i++) {
                char text[ALD_BROKER_ADDRESS_SIZE];

                ald_broker_address_format(&addresses[i], text);
                printf("\t%s", text);
        }
        putchar('\n');
        fflush(stdout);
}

static int start(AldService *service, void **ret_manager)
{
        AldDiscovery *discovery;
        int r = ald_discovery_new(
                service, g_getenv("ALIDADE_SAMPLE_CLUSTER"), on_discovered, NULL, &discovery);

        *ret_manager = discovery;
        return r;
}

static void stop(void *userdata)
{
        ald_discovery_free(userdata);
}

int main(int argc, char *argv[])
{
        static const AldConfigKey no_keys[] = { { 0 } };
        static const AldServiceInfo info = {
                .name = "sample-discovery",
                .description = "Tells which brokers Avahi finds.",
                .bus_name = "org.alidade.Sample1",
                .config_keys = no_keys,
                .start = start,
                .stop = stop,
        };

        return ald_service_main(&info, argc, argv);
}
