/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/identity/identity-bus.h"
#include "common/node-id.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"
#include "services/identity/name-store.h"

#define PATH "/org/alidade/Identity1"
#define INTERFACE "org.alidade.Identity1"
#define ACTION_SET_FRIENDLY_NAME "org.alidade.identity.set-friendly-name"

struct AldIdentityBus {
        AldService *service;
        AldIdentityManager *manager;
        AldRecordExport *export;
        char *node_id;
        sd_bus_slot *slot;
};

static void on_identity(const AldIdentity *identity, void *userdata)
{
        AldIdentityBus *bus = userdata;

        ald_record_export_update(bus->export, identity);
}

static int get_refused_signals(sd_bus *unused, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldIdentityBus *bus = userdata;

        return sd_bus_message_append(reply, "t", ald_service_refused_signals(bus->service));
}

static int on_set_friendly_name(sd_bus_message *message, void *userdata, sd_bus_error *error)
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
                bus->service, message, ACTION_SET_FRIENDLY_NAME, on_set_friendly_name, userdata, error);
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

/* The record beside it comes and goes, which sd-bus allows on a path with fallbacks only. */
static int find_identity(sd_bus *unused, const char *path, const char *interface, void *userdata,
        void **ret_found, sd_bus_error *error)
{
        if (!g_str_equal(path, PATH))
                return 0;
        *ret_found = userdata;
        return 1;
}

static const sd_bus_vtable identity_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("NodeId", "s", NULL, offsetof(AldIdentityBus, node_id), SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("RefusedSignals", "t", get_refused_signals, 0, 0),
        SD_BUS_METHOD_WITH_ARGS("SetFriendlyName", SD_BUS_ARGS("s", Name), SD_BUS_NO_RESULT,
                on_set_friendly_name, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

int ald_identity_bus_new(AldService *service, AldIdentityManager *manager, AldIdentityBus **ret)
{
        g_autoptr(AldIdentityBus) bus = g_new0(AldIdentityBus, 1);
        char node_id[ALD_NODE_ID_SIZE];
        int r;

        bus->service = service;
        bus->manager = manager;
        r = ald_node_id(node_id);
        if (r < 0)
                return r;
        bus->node_id = g_strdup(node_id);
        r = ald_record_export_new(service, PATH, ALD_KIND_IDENTITY, &bus->export);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(ald_service_bus(service), &bus->slot, PATH, INTERFACE,
                        identity_vtable, find_identity, bus);
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
        sd_bus_slot_unref(bus->slot);
        ald_record_export_free(bus->export);
        g_free(bus->node_id);
        g_free(bus);
}
