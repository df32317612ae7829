/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/telemetry/telemetry-bus.h"

/* Keeps GnuTLS, which libnm loads, from initializing and testing itself: this saves 0.9 MiB. */
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
        return 1;
}

typedef struct TelemetryService {
        AldService *service;
        AldTelemetryManager *manager;
        AldTelemetryBus *bus;
} TelemetryService;

static void telemetry_stop(void *userdata)
{
        TelemetryService *telemetry = userdata;

        ald_telemetry_manager_free(telemetry->manager);
        ald_telemetry_bus_free(telemetry->bus);
        g_free(telemetry);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TelemetryService, telemetry_stop)

static void telemetry_reload(void *userdata)
{
        TelemetryService *telemetry = userdata;
        const AldTelemetrySettings settings = ald_telemetry_settings_read(
                ald_service_config(telemetry->service));

        ald_telemetry_manager_configure(telemetry->manager, &settings);
        ald_telemetry_bus_refresh(telemetry->bus);
}

static int telemetry_start(AldService *service, void **ret_manager)
{
        g_autoptr(TelemetryService) telemetry = g_new0(TelemetryService, 1);
        const AldTelemetrySettings settings = ald_telemetry_settings_read(ald_service_config(service));
        int r;

        telemetry->service = service;
        telemetry->manager = ald_telemetry_manager_new(ald_service_root(service), &settings);
        r = ald_telemetry_bus_new(service, telemetry->manager, &telemetry->bus);
        if (r < 0)
                return r;
        *ret_manager = g_steal_pointer(&telemetry);
        return 0;
}

static const AldServiceInfo info = {
        .name = "alidade-telemetryd",
        .description = "Reports the hardware and load of this machine on D-Bus.",
        .bus_name = "org.alidade.Telemetry1",
        .config_keys = ald_telemetry_config_keys,
        .start = telemetry_start,
        .reload = telemetry_reload,
        .stop = telemetry_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
