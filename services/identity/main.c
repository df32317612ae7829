/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/identity/host-name-watch.h"
#include "services/identity/hostname1-bus.h"
#include "services/identity/identity-bus.h"
#include "services/identity/os-release-watch.h"

/* DMI sends no change event; it is read again as often as everything is sent again. */
#define REFRESH_SECONDS 30u

typedef struct Identityd {
        AldIdentityBus *bus;
        AldHostname1Client *hostname1;
        guint host_name_watch, os_release_watch, refresh;
} Identityd;

static void on_hostname1(const AldHostname1 *values, void *userdata)
{
        Identityd *identityd = userdata;

        ald_identity_manager_set_hostname1(ald_identity_bus_manager(identityd->bus), values);
}

static void on_host_name(gpointer userdata)
{
        Identityd *identityd = userdata;

        if (ald_identity_manager_reload_host_name(ald_identity_bus_manager(identityd->bus)))
                ald_hostname1_client_refresh(identityd->hostname1);
}

static void on_os_release(gpointer userdata)
{
        Identityd *identityd = userdata;

        (void) ald_identity_manager_refresh(ald_identity_bus_manager(identityd->bus));
}

static gboolean on_refresh(gpointer userdata)
{
        on_os_release(userdata);
        return G_SOURCE_CONTINUE;
}

static void reload(void *userdata)
{
        Identityd *identityd = userdata;

        ald_identity_manager_reload(ald_identity_bus_manager(identityd->bus));
}

static void stop(void *userdata)
{
        Identityd *identityd = userdata;

        g_clear_handle_id(&identityd->host_name_watch, g_source_remove);
        g_clear_handle_id(&identityd->os_release_watch, g_source_remove);
        g_clear_handle_id(&identityd->refresh, g_source_remove);
        ald_hostname1_client_free(identityd->hostname1);
        ald_identity_bus_free(identityd->bus);
        g_free(identityd);
}

static int start(AldService *service, void **ret_manager)
{
        Identityd *identityd = g_new0(Identityd, 1);
        int r;

        r = ald_identity_bus_new(service, &identityd->bus);
        if (r < 0) {
                stop(identityd);
                return r;
        }
        r = ald_hostname1_client_new(service, on_hostname1, identityd, &identityd->hostname1);
        if (r < 0)
                g_warning("Failed to watch hostname1: %s", g_strerror(-r));
        identityd->host_name_watch = ald_host_name_watch(ald_service_root(service), on_host_name, identityd);
        identityd->os_release_watch = ald_os_release_watch(
                ald_service_root(service), on_os_release, identityd);
        identityd->refresh = g_timeout_add_seconds(REFRESH_SECONDS, on_refresh, identityd);
        *ret_manager = identityd;
        return 0;
}

int main(int argc, char *argv[])
{
        static const AldConfigKey no_keys[] = { { 0 } };
        static const AldServiceInfo info = {
                .name = "alidade-identityd",
                .description = "Provides the identity of this machine on D-Bus.",
                .bus_name = "org.alidade.Identity1",
                .config_keys = no_keys,
                .start = start,
                .reload = reload,
                .stop = stop,
        };

        return ald_service_main(&info, argc, argv);
}
