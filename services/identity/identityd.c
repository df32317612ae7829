/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/state-directory.h"
#include "services/identity/facts-watch.h"
#include "services/identity/hostname1-bus.h"
#include "services/identity/identity-bus.h"

#define STATE_DIRECTORY "/var/lib/alidade/identity"

typedef struct IdentityService {
        AldIdentityManager *manager;
        AldIdentityBus *bus;
        AldHostname1Client *hostname1;
        AldFactsWatch *watch;
} IdentityService;

static void identity_stop(void *userdata)
{
        IdentityService *identity = userdata;

        ald_facts_watch_free(identity->watch);
        ald_hostname1_client_free(identity->hostname1);
        ald_identity_bus_free(identity->bus);
        ald_identity_manager_free(identity->manager);
        g_free(identity);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IdentityService, identity_stop)

static void identity_reload(void *userdata)
{
        IdentityService *identity = userdata;

        ald_identity_manager_reload(identity->manager);
}

static void on_hostname1(const AldHostname1 *values, void *userdata)
{
        IdentityService *identity = userdata;

        ald_identity_manager_set_hostname1(identity->manager, values);
}

static void on_host_name(void *userdata)
{
        IdentityService *identity = userdata;

        ald_hostname1_client_refresh(identity->hostname1);
}

static int identity_start(AldService *service, void **ret_manager)
{
        g_autoptr(IdentityService) identity = g_new0(IdentityService, 1);
        int root = ald_service_root(service), r;

        identity->manager = ald_identity_manager_new(root, ald_state_directory(STATE_DIRECTORY));
        r = ald_identity_bus_new(service, identity->manager, &identity->bus);
        if (r < 0)
                return r;
        r = ald_hostname1_client_new(service, on_hostname1, identity, &identity->hostname1);
        if (r < 0)
                g_warning("Cannot watch hostname1: %s", g_strerror(-r));
        identity->watch = ald_facts_watch_new(root, identity->manager, on_host_name, identity);
        *ret_manager = g_steal_pointer(&identity);
        return 0;
}

static const AldConfigKey no_keys[] = { { 0 } };

static const AldServiceInfo info = {
        .name = "alidade-identityd",
        .description = "Provides the identity of this machine on D-Bus.",
        .bus_name = "org.alidade.Identity1",
        .config_keys = no_keys,
        .start = identity_start,
        .reload = identity_reload,
        .stop = identity_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
