/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fnmatch.h>

#include <glib.h>

#include "common/bus-cleanup.h"
#include "services/common/back-off.h"
#include "services/common/peer.h"
#include "services/link-probe/machine/work-units-bus.h"

#define NAME "org.freedesktop.systemd1"
#define PATH "/org/freedesktop/systemd1"
#define UNIT_PREFIX PATH "/unit"
#define MANAGER NAME ".Manager"

/* The delay before an unanswered call is repeated. */
#define RETRY_USEC (15 * G_USEC_PER_SEC)

struct AldWorkUnits {
        AldService *service;
        void (*changed)(void *userdata);
        void *userdata;
        char **patterns;
        AldPeer *peer; /* NULL while systemd is not queried */
        sd_bus_slot *subscription, *query;
        AldBackOff *retry;
        bool stale;  /* a unit changed after the pending query was sent */
        bool warned; /* the warning that systemd is missing was logged */
        bool failed; /* the last query had no answer */
        bool known;  /* systemd has reported which units are active */
        char *active;
};

static void query_units(AldWorkUnits *units);

static void on_retry(void *userdata)
{
        AldWorkUnits *units = userdata;

        if (units->peer && ald_peer_owner(units->peer))
                query_units(units);
}

AldWorkUnits *ald_work_units_new(AldService *service, void (*changed)(void *userdata), void *userdata)
{
        static const AldBackOffDelays delays = { RETRY_USEC, RETRY_USEC, RETRY_USEC };
        AldWorkUnits *units = g_new0(AldWorkUnits, 1);

        units->service = service;
        units->changed = changed;
        units->userdata = userdata;
        units->known = true;
        units->retry = ald_back_off_new("work-units", &delays, on_retry, units);
        return units;
}

static void disconnect_from_systemd(AldWorkUnits *units)
{
        units->subscription = sd_bus_slot_unref(units->subscription);
        units->query = sd_bus_slot_unref(units->query);
        g_clear_pointer(&units->peer, ald_peer_free);
        units->stale = false;
}

void ald_work_units_free(AldWorkUnits *units)
{
        if (!units)
                return;
        disconnect_from_systemd(units);
        ald_back_off_free(units->retry);
        g_strfreev(units->patterns);
        g_free(units->active);
        g_free(units);
}

const char *ald_work_units_active(const AldWorkUnits *units)
{
        return units->active;
}

bool ald_work_units_are_known(const AldWorkUnits *units)
{
        return units->known;
}

static void set_active(AldWorkUnits *units, const char *name)
{
        bool was_known = units->known;

        units->known = true;
        if (was_known && g_strcmp0(units->active, name) == 0)
                return;
        g_free(units->active);
        units->active = g_strdup(name);
        units->changed(units->userdata);
}

/* Marks the state as unknown: that of other units, or from before this instance of systemd, does not count. A
 * unit known to be active stays active. */
static void set_unknown(AldWorkUnits *units)
{
        bool was_known = units->known;

        units->known = false;
        if (was_known && !units->active)
                units->changed(units->userdata);
}

/* Reads the name, the first of the ten fields (ssssssouso), of the first unit. */
static int read_first(sd_bus_message *reply, const char **ret_name)
{
        int r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");

        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'r', "ssssssouso");
        return r > 0 ? sd_bus_message_read(reply, "s", ret_name) : r;
}

/* Retries later and keeps what is known, since a busy systemd may not answer. */
static void note_failed_query(AldWorkUnits *units, const char *reason)
{
        if (!units->failed)
                g_warning("Cannot list the units in work-units=, retrying: %s", reason);
        units->failed = true;
        ald_back_off_failed(units->retry);
}

static int on_units(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        AldWorkUnits *units = userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const char *name = NULL;
        int r = error ? 0 : read_first(reply, &name);

        units->query = sd_bus_slot_unref(units->query);
        units->failed = units->failed && (error || r < 0);
        if (error)
                note_failed_query(units, error->message);
        else if (r < 0)
                note_failed_query(units, g_strerror(-r));
        else
                set_active(units, name);
        if (units->stale)
                query_units(units);
        return 0;
}

static void query_units(AldWorkUnits *units)
{
        /* A unit that is starting or stopping counts as active. */
        const char *const states[] = { "active", "activating", "deactivating", "reloading", NULL };
        sd_bus *bus = ald_service_system_bus(units->service);
        g_autoptr(AldMessage) call = NULL;
        int r;

        units->stale = units->query != NULL;
        if (units->stale)
                return;
        r = sd_bus_message_new_method_call(bus, &call, NAME, PATH, MANAGER, "ListUnitsByPatterns");
        if (r >= 0)
                r = sd_bus_message_append_strv(call, (char **) states);
        if (r >= 0)
                r = sd_bus_message_append_strv(call, units->patterns);
        if (r >= 0)
                r = sd_bus_call_async(bus, &units->query, call, on_units, units, 0);
        if (r < 0)
                note_failed_query(units, g_strerror(-r));
}

static bool is_named(const AldWorkUnits *units, const char *name)
{
        for (char **pattern = units->patterns; *pattern; pattern++)
                if (fnmatch(*pattern, name, FNM_NOESCAPE) == 0)
                        return true;
        return false;
}

static int on_unit_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        AldWorkUnits *units = userdata;
        g_autofree char *name = NULL;

        if (sd_bus_path_decode(sd_bus_message_get_path(signal), UNIT_PREFIX, &name) > 0 &&
                is_named(units, name))
                query_units(units);
        return 0;
}

/* Handles UnitNew and UnitRemoved. */
static int on_unit_listed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        AldWorkUnits *units = userdata;
        const char *name;
        int r = sd_bus_message_read(signal, "s", &name);

        if (r >= 0 && is_named(units, name))
                query_units(units);
        return MIN(r, 0);
}

static int on_subscribed(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        AldWorkUnits *units = userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);

        units->subscription = sd_bus_slot_unref(units->subscription);
        if (error)
                g_warning("Cannot subscribe to unit signals of systemd, so work-units= may lag behind: %s",
                        error->message);
        return 0;
}

static void warn_missing(AldWorkUnits *units)
{
        if (!units->warned)
                g_warning("work-units= has no effect: systemd is not on the system bus");
        units->warned = true;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        AldWorkUnits *units = userdata;
        int r;

        if (!owner) {
                warn_missing(units);
                units->query = sd_bus_slot_unref(units->query);
                set_active(units, NULL);
                return;
        }
        units->warned = false;
        set_unknown(units);
        r = sd_bus_call_method_async(ald_service_system_bus(units->service), &units->subscription, NAME, PATH,
                MANAGER, "Subscribe", on_subscribed, units, NULL);
        if (r < 0)
                g_warning("Cannot subscribe to the signals of systemd: %s", g_strerror(-r));
        query_units(units);
}

static int match_signals(AldWorkUnits *units)
{
        int r = ald_peer_match_signal(units->peer, UNIT_PREFIX "/", "org.freedesktop.DBus.Properties",
                "PropertiesChanged", NAME ".Unit", on_unit_changed);

        if (r >= 0)
                r = ald_peer_match_signal(units->peer, PATH, MANAGER, "UnitNew", NULL, on_unit_listed);
        if (r >= 0)
                r = ald_peer_match_signal(units->peer, PATH, MANAGER, "UnitRemoved", NULL, on_unit_listed);
        return r;
}

static void connect_to_systemd(AldWorkUnits *units)
{
        sd_bus *bus = ald_service_system_bus(units->service);
        int r;

        if (!bus) {
                warn_missing(units);
                return;
        }
        units->known = false;
        r = ald_peer_new(units->service, bus, NAME, on_owner, units, &units->peer);
        if (r >= 0)
                r = match_signals(units);
        if (r < 0) {
                g_warning("Cannot watch systemd, so work-units= has no effect: %s", g_strerror(-r));
                disconnect_from_systemd(units);
                units->known = true;
        }
}

void ald_work_units_set(AldWorkUnits *units, const char *const *patterns)
{
        if (units->patterns && g_strv_equal((const char *const *) units->patterns, patterns))
                return;
        g_strfreev(units->patterns);
        units->patterns = g_strdupv((char **) patterns);
        if (!*patterns) {
                disconnect_from_systemd(units);
                set_active(units, NULL);
        } else if (!units->peer) {
                connect_to_systemd(units);
        } else if (ald_peer_owner(units->peer)) {
                set_unknown(units);
                query_units(units);
        }
}
