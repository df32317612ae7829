/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "common/excerpt.h"
#include "services/common/errors.h"
#include "services/common/peer.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"
#include "services/telemetry/telemetry-bus.h"
#include "services/telemetry/telemetry-manager.h"

#define OBJECT_PATH "/org/alidade/Telemetry1"
#define INTERFACE "org.alidade.Telemetry1"
#define ACTION_SET_INTERVAL "org.alidade.telemetry.set-interval"

typedef struct TelemetryBus {
        AldService *service;
        AldTelemetryManager *manager;
        AldRecordExport *exports[ALD_N_KINDS]; /* NULL for what is not measured here */
        sd_bus_slot *slot;
        AldPeer *network_manager;
} TelemetryBus;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TelemetryBus, ald_telemetry_stop)

static const AldKind measured[] = { ALD_KIND_MEMORY, ALD_KIND_SYSTEM, ALD_KIND_BACKENDS, ALD_KIND_NETWORK,
        ALD_KIND_DISK, ALD_KIND_FABRIC };

/* By AldRate: the property that shows it, the key that sets it, and the unit of that key. */
static const struct {
        const char *property;
        const char *key;
        uint64_t unit_usec;
} rates[ALD_N_RATES] = {
        [ALD_RATE_MEMORY] = { "MemoryIntervalUSec", "memory-interval-ms", 1000 },
        [ALD_RATE_SYSTEM] = { "SystemIntervalUSec", "system-interval-ms", 1000 },
        [ALD_RATE_DISK] = { "DiskIntervalUSec", "disk-interval-s", 1000 * 1000 },
};

static const char *refuse_paths(const char *value)
{
        g_auto(GStrv) paths = g_strsplit(value, ";", -1);

        for (char **path = paths; *path; path++)
                if (*g_strstrip(*path) != '\0' && **path != '/')
                        return "not a list of absolute paths, separated by semicolons";
        return NULL;
}

const AldConfigKey ald_telemetry_config_keys[] = {
        { "telemetry", "memory-interval-ms", ALD_CONFIG_UINT, 100, 60 * 1000, "500", NULL },
        { "telemetry", "system-interval-ms", ALD_CONFIG_UINT, 250, 60 * 1000, "1000", NULL },
        { "telemetry", "disk-interval-s", ALD_CONFIG_UINT, 5, 3600, "30", NULL },
        { "telemetry", "disk-paths", ALD_CONFIG_STRV, 0, 0, "/", refuse_paths },
        { NULL },
};

static void read_settings(const AldConfig *config, AldTelemetrySettings *ret)
{
        for (AldRate rate = 0; rate < ALD_N_RATES; rate++)
                ret->interval_usec[rate] = ald_config_uint(config, rates[rate].key) * rates[rate].unit_usec;
        ret->disk_paths = ald_config_strv(config, "disk-paths");
}

static int get_interval(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const TelemetryBus *telemetry = userdata;

        for (AldRate rate = 0; rate < ALD_N_RATES; rate++)
                if (strcmp(rates[rate].property, property) == 0)
                        return sd_bus_message_append(
                                reply, "t", ald_telemetry_manager_interval(telemetry->manager, rate));
        return -ENOENT;
}

static int get_refused_signals(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const TelemetryBus *telemetry = userdata;

        return sd_bus_message_append(reply, "t", ald_service_refused_signals(telemetry->service));
}

static void emit_interval(TelemetryBus *telemetry, AldRate rate)
{
        sd_bus_emit_properties_changed(
                ald_service_bus(telemetry->service), OBJECT_PATH, INTERFACE, rates[rate].property, NULL);
}

static int on_set_interval(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        TelemetryBus *telemetry = userdata;
        uint64_t usec, before, effective;
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
                telemetry->service, message, ACTION_SET_INTERVAL, on_set_interval, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;

        before = ald_telemetry_manager_interval(telemetry->manager, rate);
        effective = ald_telemetry_manager_set_interval(telemetry->manager, rate, usec);
        if (effective != before)
                emit_interval(telemetry, rate);
        return sd_bus_reply_method_return(message, "t", effective);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("MemoryIntervalUSec", "t", get_interval, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("SystemIntervalUSec", "t", get_interval, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("DiskIntervalUSec", "t", get_interval, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("RefusedSignals", "t", get_refused_signals, 0, 0),
        SD_BUS_METHOD_WITH_ARGS("SetInterval", SD_BUS_ARGS("s", Kind, "t", IntervalUSec),
                SD_BUS_RESULT("t", EffectiveUSec), on_set_interval, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void on_measured(AldKind kind, const void *fields, void *userdata)
{
        TelemetryBus *telemetry = userdata;

        ald_record_export_update(telemetry->exports[kind], fields);
}

static int find_telemetry(sd_bus *bus, const char *path, const char *interface, void *userdata,
        void **ret_found, sd_bus_error *error)
{
        *ret_found = userdata;
        return g_str_equal(path, OBJECT_PATH);
}

/* A fallback, as the records on this path are: sd-bus takes no other beside one. */
static int add_objects(TelemetryBus *telemetry)
{
        sd_bus *bus = ald_service_bus(telemetry->service);
        int r;

        r = sd_bus_add_fallback_vtable(
                bus, &telemetry->slot, OBJECT_PATH, INTERFACE, vtable, find_telemetry, telemetry);
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(measured); i++)
                r = ald_record_export_new(
                        telemetry->service, OBJECT_PATH, measured[i], &telemetry->exports[measured[i]]);
        if (r < 0)
                g_critical("Cannot export %s: %s", OBJECT_PATH, g_strerror(-r));
        return r;
}

static void on_network_manager(AldPeer *peer, const char *owner, void *userdata)
{
        TelemetryBus *telemetry = userdata;

        if (owner)
                ald_telemetry_manager_use_network_manager(telemetry->manager);
}

/* Without a system bus it is unknown when NetworkManager appears; libnm waits for both. */
static int watch_network_manager(TelemetryBus *telemetry)
{
        sd_bus *bus = ald_service_system_bus(telemetry->service);
        int r;

        if (!bus) {
                ald_telemetry_manager_use_network_manager(telemetry->manager);
                return 0;
        }
        r = ald_peer_new(telemetry->service, bus, "org.freedesktop.NetworkManager", on_network_manager,
                telemetry, &telemetry->network_manager);
        if (r < 0)
                g_critical("Cannot watch NetworkManager: %s", g_strerror(-r));
        return r;
}

int ald_telemetry_start(AldService *service, void **ret)
{
        g_autoptr(TelemetryBus) telemetry = g_new0(TelemetryBus, 1);
        AldTelemetrySettings settings;
        int r;

        telemetry->service = service;
        r = add_objects(telemetry);
        if (r < 0)
                return r;
        read_settings(ald_service_config(service), &settings);
        telemetry->manager = ald_telemetry_manager_new(
                ald_service_root(service), &settings, on_measured, telemetry);
        r = watch_network_manager(telemetry);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&telemetry);
        return 0;
}

void ald_telemetry_reload(void *userdata)
{
        TelemetryBus *telemetry = userdata;
        uint64_t before[ALD_N_RATES];
        AldTelemetrySettings settings;

        for (AldRate rate = 0; rate < ALD_N_RATES; rate++)
                before[rate] = ald_telemetry_manager_interval(telemetry->manager, rate);
        read_settings(ald_service_config(telemetry->service), &settings);
        ald_telemetry_manager_configure(telemetry->manager, &settings);
        for (AldRate rate = 0; rate < ALD_N_RATES; rate++)
                if (ald_telemetry_manager_interval(telemetry->manager, rate) != before[rate])
                        emit_interval(telemetry, rate);
}

void ald_telemetry_stop(void *userdata)
{
        TelemetryBus *telemetry = userdata;

        ald_peer_free(telemetry->network_manager);
        g_clear_pointer(&telemetry->manager, ald_telemetry_manager_free);
        for (size_t i = 0; i < G_N_ELEMENTS(measured); i++)
                ald_record_export_free(telemetry->exports[measured[i]]);
        sd_bus_slot_unref(telemetry->slot);
        g_free(telemetry);
}
