/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/check/missing-services.h"
#include "clients/command-line/bus.h"

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
/* The timeout of systemd, without whose answer the other services can still be checked. */
#define SYSTEMD_USEC G_USEC_PER_SEC

/* The state of a unit in systemd. Members are NULL without systemd, or if it does not answer. */
typedef struct Unit {
        char *load_state, *active_state, *result;
} Unit;

static void unit_clear(Unit *unit)
{
        g_free(unit->load_state);
        g_free(unit->active_state);
        g_free(unit->result);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Unit, unit_clear)

/* The names that the bus knows. */
typedef struct Names {
        sd_bus *bus;
        char **owned, **activatable;
} Names;

static bool contains(char **names, const char *name)
{
        return g_strv_contains((const char *const *) names, name);
}

static bool call_systemd(sd_bus *bus, sd_bus_message *call, sd_bus_message **ret)
{
        return sd_bus_message_set_auto_start(call, false) >= 0 &&
               sd_bus_call(bus, call, SYSTEMD_USEC, NULL, ret) >= 0;
}

static char *read_unit_property(sd_bus *bus, const char *path, const char *interface, const char *property)
{
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        const char *value;

        if (sd_bus_message_new_method_call(
                    bus, &call, SYSTEMD_NAME, path, "org.freedesktop.DBus.Properties", "Get") < 0 ||
                sd_bus_message_append(call, "ss", interface, property) < 0 ||
                !call_systemd(bus, call, &reply) || sd_bus_message_read(reply, "v", "s", &value) < 0)
                return NULL;
        return g_strdup(value);
}

/* Makes systemd load the unit, but not start it. */
static void read_unit(const Names *names, const char *name, Unit *unit)
{
        g_autofree char *file = g_strconcat(name, ".service", NULL);
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        const char *path;

        if (!contains(names->owned, SYSTEMD_NAME) ||
                sd_bus_message_new_method_call(names->bus, &call, SYSTEMD_NAME, SYSTEMD_PATH,
                        SYSTEMD_NAME ".Manager", "LoadUnit") < 0 ||
                sd_bus_message_append(call, "s", file) < 0 || !call_systemd(names->bus, call, &reply) ||
                sd_bus_message_read(reply, "o", &path) < 0)
                return;
        unit->load_state = read_unit_property(names->bus, path, SYSTEMD_NAME ".Unit", "LoadState");
        unit->active_state = read_unit_property(names->bus, path, SYSTEMD_NAME ".Unit", "ActiveState");
        unit->result = read_unit_property(names->bus, path, SYSTEMD_NAME ".Service", "Result");
}

static void add_problem(AldCheckResult *result, char *text)
{
        ald_check_result_add(result, ALD_CHECK_ID_SERVICE, ALD_FINDING_ROW_SEVERITY_ERROR, text);
}

static void check_running(const Names *names, const char *name, AldCheckResult *result)
{
        if (!contains(names->owned, name))
                add_problem(result, g_strdup_printf("%s is not running", name));
}

/* Not every machine records a history. An administrator who masks the unit does not want it to run. */
static void check_history(const Names *names, AldCheckResult *result)
{
        g_auto(Unit) unit = {};

        if (contains(names->owned, ALD_HISTORY_NAME))
                return;
        read_unit(names, ALD_HISTORY_UNIT, &unit);
        if (g_strcmp0(unit.load_state, "masked") == 0)
                return;
        if (contains(names->activatable, ALD_HISTORY_NAME) || g_strcmp0(unit.load_state, "loaded") == 0)
                add_problem(result, g_strdup_printf("%s is not running", ALD_HISTORY_NAME));
}

/* The placement service runs only on request. The bus cannot start a unit that systemd does not find. */
static void check_placement(const Names *names, AldCheckResult *result)
{
        g_auto(Unit) unit = {};

        if (contains(names->owned, ALD_PLACEMENT_NAME))
                return;
        read_unit(names, ALD_PLACEMENT_UNIT, &unit);
        if (g_strcmp0(unit.load_state, "masked") == 0)
                return;
        if (!contains(names->activatable, ALD_PLACEMENT_NAME) || g_strcmp0(unit.load_state, "not-found") == 0)
                add_problem(result, g_strdup_printf("%s cannot be started", ALD_PLACEMENT_NAME));
        else if (g_strcmp0(unit.active_state, "failed") == 0)
                add_problem(result, g_strdup_printf("the last start of " ALD_PLACEMENT_UNIT " failed: %s",
                                            unit.result ?: "unknown reason"));
}

void ald_check_services(const AldCtl *ctl, bool is_member, AldCheckResult *result)
{
        static const char *const running[] = { ALD_IDENTITY_NAME, "org.alidade.Telemetry1",
                ALD_LINK_PROBE_NAME };
        g_autoptr(AldOwnBus) bus = NULL;
        g_auto(GStrv) owned = NULL, activatable = NULL;
        Names names;

        if (ald_bus_open(ctl, &bus) != ALD_EXIT_OK || sd_bus_list_names(bus, &owned, &activatable) < 0) {
                add_problem(result, g_strdup("the names on the bus cannot be read"));
                return;
        }
        names = (Names){ bus, owned, activatable };
        for (size_t i = 0; i < G_N_ELEMENTS(running); i++)
                check_running(&names, running[i], result);
        if (is_member)
                check_running(&names, ALD_CLUSTER_NAME, result);
        check_history(&names, result);
        check_placement(&names, result);
}
