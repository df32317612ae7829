/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/identity/identity-bus.h"
#include "common/node-id.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"
#include "services/common/vtables.h"
#include "services/identity/name-store.h"

#define PATH "/org/alidade/Identity1"
#define INTERFACE "org.alidade.Identity1"
#define ACTION_SET_FRIENDLY_NAME "org.alidade.identity.set-friendly-name"

struct AldIdentityBus {
        AldService *service;
        AldIdentityManager *manager;
        AldRecordExport *export;
        AldProperties properties;
        char node_id[ALD_NODE_ID_SIZE];
};

static void on_identity(const AldIdentity *identity, void *userdata)
{
        AldIdentityBus *bus = userdata;

        ald_record_export_update(bus->export, identity);
}

static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldIdentityBus *bus = of;

        *(AldIdentityProperties *) ret = (AldIdentityProperties){
                .node_id = bus->node_id,
                .refused_signals = ald_service_refused_signals(bus->service),
        };
}

static int method_set_friendly_name(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldIdentityBus *bus = userdata;
        const char *name, *reason;
        int r;

        r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return ald_error_unreadable(r, error);
        reason = ald_name_refuse(name);
        if (reason)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Invalid name: %s", reason);
        r = ald_polkit_authorize(
                bus->service, message, ACTION_SET_FRIENDLY_NAME, method_set_friendly_name, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_identity_manager_set_friendly_name(bus->manager, name);
        if (r < 0) {
                g_warning("Failed to store the friendly name: %s", g_strerror(-r));
                return sd_bus_error_setf(
                        error, ALD_ERROR_NOT_STORED, "Failed to store the name: %s", g_strerror(-r));
        }
        return sd_bus_reply_method_return(message, NULL);
}

static const sd_bus_vtable vtable[] = { ALD_IDENTITY1_VTABLE(AldIdentityBus) };

int ald_identity_bus_new(AldService *service, AldIdentityManager *manager, AldIdentityBus **ret)
{
        g_autoptr(AldIdentityBus) bus = g_new0(AldIdentityBus, 1);
        int r;

        bus->service = service;
        bus->manager = manager;
        bus->properties = (AldProperties){ .service = service,
                .interface = INTERFACE,
                .type = &ald_identity_properties_struct,
                .read = read_properties,
                .of = bus };
        r = ald_node_id(bus->node_id);
        if (r < 0)
                return r;
        r = ald_record_export_new(service, PATH, ALD_KIND_IDENTITY, &bus->export);
        if (r >= 0)
                r = ald_properties_export(&bus->properties, vtable);
        if (r < 0)
                return r;
        ald_identity_manager_watch(manager, on_identity, bus);
        *ret = g_steal_pointer(&bus);
        return 0;
}

void ald_identity_bus_free(AldIdentityBus *bus)
{
        if (!bus)
                return;
        ald_identity_manager_watch(bus->manager, NULL, NULL);
        ald_properties_clear(&bus->properties);
        ald_record_export_free(bus->export);
        g_free(bus);
}
