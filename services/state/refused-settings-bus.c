/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/refused-settings-bus.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "record/record-bus.h"
#include "services/common/peer.h"
#include "services/state/refused-settings.h"

#define ROWS_BYTES_MAX (256u * 1024)
#define OWN 0u /* the state service itself, in the tables */

static const struct {
        const char *bus_name, *service;
} reporters[] = {
        [OWN] = { "org.alidade.State1", "alidade-stated" },
        { "org.alidade.Identity1", "alidade-identityd" },
        { "org.alidade.Telemetry1", "alidade-telemetryd" },
        { "org.alidade.LinkProbe1", "alidade-link-probed" },
        { "org.alidade.Cluster1", "alidade-clusterd" },
        { "org.alidade.History1", "alidade-historyd" },
        { "org.alidade.Placement1", "alidade-placementd" },
};

/* One service, and its last report. */
typedef struct Reporter {
        AldRefusedSettings *settings;
        const char *bus_name;
        AldPeer *peer;
        sd_bus_slot *reading;    /* Get() in progress */
        bool known;              /* its report was read, or it is not running */
        sd_bus_message *message; /* holds the strings of the rows */
        GPtrArray *owned;
} Reporter;

struct AldRefusedSettings {
        AldService *service;
        AldStateManager *manager;
        Reporter reporters[G_N_ELEMENTS(reporters)];
        AldServiceProblems problems[G_N_ELEMENTS(reporters)]; /* in the same order */
};

/* Updates the record, but not before each service has answered or is known not to run: the state service
 * begins without rows, so an earlier update would end findings that then begin again. */
static void update_record(AldRefusedSettings *settings)
{
        for (size_t i = 0; i < G_N_ELEMENTS(settings->reporters); i++)
                if (!settings->reporters[i].known)
                        return;
        ald_refused_settings_update(settings->manager, settings->problems, G_N_ELEMENTS(settings->problems));
}

static AldServiceProblems *problems_of(Reporter *reporter)
{
        return &reporter->settings->problems[reporter - reporter->settings->reporters];
}

static void clear_rows(Reporter *reporter)
{
        problems_of(reporter)->rows.n = 0;
        reporter->message = sd_bus_message_unref(reporter->message);
        g_clear_pointer(&reporter->owned, g_ptr_array_unref);
}

static void read_rows(Reporter *reporter, sd_bus_message *reply)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r;

        r = sd_bus_message_enter_container(reply, 'v', "aa{sv}");
        if (r >= 0)
                r = ald_record_bus_read_rows(
                        reply, &ald_configuration_problem_row_struct, ROWS_BYTES_MAX, owned, &rows);
        if (r < 0) {
                g_warning("%s sent an invalid %s: %s", reporter->bus_name, ALD_SERVICE_PROBLEMS,
                        g_strerror(-r));
                return;
        }
        problems_of(reporter)->rows = rows;
        reporter->owned = g_steal_pointer(&owned);
        reporter->message = sd_bus_message_ref(reply);
}

/* Reads the reply. A service of an earlier version has no such object, and reports nothing. */
static int on_rows(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Reporter *reporter = userdata;

        reporter->reading = sd_bus_slot_unref(reporter->reading);
        reporter->known = true;
        clear_rows(reporter);
        if (!sd_bus_message_is_method_error(reply, NULL))
                read_rows(reporter, reply);
        update_record(reporter->settings);
        return 0;
}

/* Requests the rows. The call goes to the unique name, so that a service that has exited meanwhile is not
 * started again. */
static void read_problems(Reporter *reporter, const char *owner)
{
        int r;

        reporter->reading = sd_bus_slot_unref(reporter->reading);
        r = sd_bus_call_method_async(ald_service_bus(reporter->settings->service), &reporter->reading, owner,
                ALD_SERVICE_PATH, "org.freedesktop.DBus.Properties", "Get", on_rows, reporter, "ss",
                ALD_SERVICE_INTERFACE, ALD_SERVICE_PROBLEMS);
        if (r < 0)
                g_warning("Failed to call %s: %s", reporter->bus_name, g_strerror(-r));
}

static int on_properties_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        Reporter *reporter = userdata;

        read_problems(reporter, ald_peer_owner(reporter->peer));
        return 0;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        Reporter *reporter = userdata;

        if (owner) {
                read_problems(reporter, owner);
                return;
        }
        reporter->reading = sd_bus_slot_unref(reporter->reading);
        /* The state service acquires its name a little later. */
        reporter->known = reporter != &reporter->settings->reporters[OWN];
        clear_rows(reporter);
        update_record(reporter->settings);
}

int ald_refused_settings_new(AldService *service, AldStateManager *manager, AldRefusedSettings **ret)
{
        g_autoptr(AldRefusedSettings) settings = g_new0(AldRefusedSettings, 1);
        int r = 0;

        settings->service = service;
        settings->manager = manager;
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(reporters); i++) {
                Reporter *reporter = &settings->reporters[i];

                settings->problems[i].service = reporters[i].service;
                reporter->settings = settings;
                reporter->bus_name = reporters[i].bus_name;
                r = ald_peer_new(service, ald_service_bus(service), reporter->bus_name, on_owner, reporter,
                        &reporter->peer);
                if (r >= 0)
                        r = ald_peer_match_signal(reporter->peer, ALD_SERVICE_PATH,
                                "org.freedesktop.DBus.Properties", "PropertiesChanged", ALD_SERVICE_INTERFACE,
                                on_properties_changed);
        }
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&settings);
        return 0;
}

void ald_refused_settings_free(AldRefusedSettings *settings)
{
        if (!settings)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(settings->reporters); i++) {
                sd_bus_slot_unref(settings->reporters[i].reading);
                ald_peer_free(settings->reporters[i].peer);
                clear_rows(&settings->reporters[i]);
        }
        g_free(settings);
}
