/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "common/error-names.h"
#include "common/excerpt.h"
#include "record/record-bus.h"
#include "record/record-source.h"
#include "services/common/peer.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"
#include "services/common/vtables.h"
#include "services/telemetry/telemetry-bus.h"

#define OBJECT_PATH "/org/alidade/Telemetry1"
#define INTERFACE "org.alidade.Telemetry1"
#define ACTION_SET_INTERVAL "org.alidade.telemetry.set-interval"

struct AldTelemetryBus {
        AldService *service;
        AldTelemetryManager *manager;
        AldRecordExport *exports[ALD_N_KINDS]; /* NULL for kinds that are not measured here */
        AldProperties properties;
        AldPeer *network_manager;
};

static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldTelemetryBus *telemetry = of;
        const AldTelemetryManager *manager = telemetry->manager;

        *(AldTelemetryProperties *) ret = (AldTelemetryProperties){
                .memory_interval_usec = ald_telemetry_manager_interval(manager, ALD_RATE_MEMORY),
                .system_interval_usec = ald_telemetry_manager_interval(manager, ALD_RATE_SYSTEM),
                .disk_interval_usec = ald_telemetry_manager_interval(manager, ALD_RATE_DISK),
                .refused_signals = ald_service_refused_signals(telemetry->service),
        };
}

void ald_telemetry_bus_refresh(AldTelemetryBus *telemetry)
{
        ald_properties_emit(&telemetry->properties);
}

static int method_set_interval(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldTelemetryBus *telemetry = userdata;
        uint64_t usec, effective;
        const char *kind;
        int rate, r;

        r = sd_bus_message_read(message, "st", &kind, &usec);
        if (r < 0)
                return r;
        rate = ald_rate_from_kind(ald_kind_from_name(kind));
        if (rate < 0) {
                g_autofree char *excerpt = ald_excerpt(kind);
                return sd_bus_error_setf(
                        error, ALD_ERROR_NO_SUCH_KIND, "Not sampled at an interval: %s", excerpt);
        }

        r = ald_polkit_authorize(
                telemetry->service, message, ACTION_SET_INTERVAL, method_set_interval, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;

        effective = ald_telemetry_manager_set_interval(telemetry->manager, rate, usec);
        ald_telemetry_bus_refresh(telemetry);
        return sd_bus_reply_method_return(message, "t", effective);
}

static int append_holders(sd_bus_message *reply, const GArray *rows, size_t *ret_bytes)
{
        int r = ald_record_bus_open_rows(reply, &ald_holder_struct);

        *ret_bytes = 0;
        for (guint i = 0; r >= 0 && i < rows->len; i++) {
                const AldHolder *row = &g_array_index(rows, AldHolder, i);

                *ret_bytes += ald_struct_wire_size(&ald_holder_struct, row);
                r = ald_record_bus_append_row(reply, &ald_holder_struct, row);
        }
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int method_get_holders(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldTelemetryBus *telemetry = userdata;
        sd_bus_message *reply = NULL;
        size_t bytes;
        uid_t uid;
        int r;

        r = ald_service_sender_uid(telemetry->service, message, &uid);
        if (r < 0)
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_ACCESS_DENIED, "The bus does not report the user of the caller");
        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = append_holders(
                        reply, ald_telemetry_manager_holders(telemetry->manager, uid)->holders, &bytes);
        if (r >= 0) {
                ald_service_note_reply(telemetry->service, message, bytes);
                r = sd_bus_send(NULL, reply, NULL);
        }
        sd_bus_message_unref(reply);
        return r;
}

static const sd_bus_vtable vtable[] = { ALD_TELEMETRY1_VTABLE(AldTelemetryBus) };

static void on_measured(AldKind kind, const void *fields, void *userdata)
{
        AldTelemetryBus *telemetry = userdata;

        ald_record_export_update(telemetry->exports[kind], fields);
}

static int add_objects(AldTelemetryBus *telemetry)
{
        const AldRecordSource *source = &ald_record_sources[ALD_RECORD_SOURCE_TELEMETRY];
        int r = ald_properties_export(&telemetry->properties, vtable);

        for (size_t i = 0; r >= 0 && i < source->n_kinds; i++)
                r = ald_record_export_new(telemetry->service, OBJECT_PATH, source->kinds[i],
                        &telemetry->exports[source->kinds[i]]);
        return r;
}

static void on_network_manager(AldPeer *peer, const char *owner, void *userdata)
{
        AldTelemetryBus *telemetry = userdata;

        if (owner)
                ald_telemetry_manager_use_network_manager(telemetry->manager);
}

/* Uses NetworkManager once it is on the system bus. Without a system bus that time is unknown, so it is used
 * at once; libnm waits for both. */
static void watch_network_manager(AldTelemetryBus *telemetry)
{
        sd_bus *bus = ald_service_system_bus(telemetry->service);
        int r;

        if (!bus) {
                ald_telemetry_manager_use_network_manager(telemetry->manager);
                return;
        }
        r = ald_peer_new(telemetry->service, bus, "org.freedesktop.NetworkManager", on_network_manager,
                telemetry, &telemetry->network_manager);
        if (r < 0)
                g_warning("Cannot watch NetworkManager: %s", g_strerror(-r));
}

int ald_telemetry_bus_new(AldService *service, AldTelemetryManager *manager, AldTelemetryBus **ret)
{
        g_autoptr(AldTelemetryBus) telemetry = g_new0(AldTelemetryBus, 1);
        int r;

        telemetry->service = service;
        telemetry->manager = manager;
        telemetry->properties = (AldProperties){ .service = service,
                .interface = INTERFACE,
                .type = &ald_telemetry_properties_struct,
                .read = read_properties,
                .of = telemetry };
        r = add_objects(telemetry);
        if (r < 0)
                return r;
        ald_telemetry_manager_start(manager, on_measured, telemetry);
        watch_network_manager(telemetry);
        *ret = g_steal_pointer(&telemetry);
        return 0;
}

void ald_telemetry_bus_free(AldTelemetryBus *telemetry)
{
        if (!telemetry)
                return;
        ald_peer_free(telemetry->network_manager);
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                ald_record_export_free(telemetry->exports[kind]);
        ald_properties_clear(&telemetry->properties);
        g_free(telemetry);
}
