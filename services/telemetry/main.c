/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/telemetry-bus.h"

/* libnm brings GnuTLS, which would set itself up and test itself when loaded: 0.9 MiB for what nobody uses
 * here. */
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
        return 1;
}

int main(int argc, char *argv[])
{
        static const AldServiceInfo info = {
                .name = "alidade-telemetryd",
                .description = "Tells what this machine has and how it is doing, on the bus.",
                .bus_name = "org.alidade.Telemetry1",
                .config_keys = ald_telemetry_config_keys,
                .start = ald_telemetry_start,
                .reload = ald_telemetry_reload,
                .stop = ald_telemetry_stop,
        };

        return ald_service_main(&info, argc, argv);
}
