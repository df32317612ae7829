/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/telemetry-bus.h"

/* libnm loads GnuTLS, which would initialize and test itself: 0.9 MiB that are not needed here. */
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
        return 1;
}

int main(int argc, char *argv[])
{
        static const AldServiceInfo info = {
                .name = "alidade-telemetryd",
                .description = "Reports the hardware and load of this machine on D-Bus.",
                .bus_name = "org.alidade.Telemetry1",
                .config_keys = ald_telemetry_config_keys,
                .start = ald_telemetry_start,
                .reload = ald_telemetry_reload,
                .stop = ald_telemetry_stop,
        };

        return ald_service_main(&info, argc, argv);
}
