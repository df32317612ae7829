/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/cluster/status-read.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/fields.h"
#include "state-client/value.h"

static int read_properties(sd_bus *bus, json_t *into, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        json_t *properties = json_object();
        int r;

        json_object_set_new(into, "Cluster", properties);
        r = sd_bus_call_method(bus, ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, "org.freedesktop.DBus.Properties",
                "GetAll", error, &reply, "s", ALD_CLUSTER_INTERFACE);
        return r < 0 ? r : ald_value_read_dict(reply, properties, NULL);
}

/* The number of records that the state service refused; absent if the service does not run. */
static void add_refused_records(sd_bus *bus, json_t *into)
{
        json_t *state = json_object();
        uint64_t refused;

        json_object_set_new(into, "State", state);
        if (ald_bus_await(bus, ALD_STATE_NAME, NULL) >= 0 &&
                sd_bus_get_property_trivial(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE,
                        "RefusedRecords", NULL, 't', &refused) >= 0)
                json_object_set_new(state, "RefusedRecords", json_integer((json_int_t) refused));
}

static int read_rows(sd_bus *bus, const char *method, const char *name, json_t *into, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        json_t *rows = json_array();
        int r;

        json_object_set_new(into, name, rows);
        r = sd_bus_call_method(
                bus, ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE, method, error, &reply, NULL);
        if (r >= 0)
                r = sd_bus_message_has_signature(reply, "aa{sv}") > 0 ? 0 : -EBADMSG;
        return r < 0 ? r : ald_value_read_rows(reply, rows);
}

/* Reads a{sa{sv}}, identities by node, and names the nodes among the rows. */
static int read_names(sd_bus_message *m, json_t *names)
{
        const char *id;
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
                json_t *fields = json_object();

                r = sd_bus_message_read(m, "s", &id);
                if (r >= 0)
                        r = ald_value_read_dict(m, fields, NULL);
                if (r >= 0)
                        json_object_set(names, id, json_object_get(fields, "FriendlyName"));
                json_decref(fields);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
        }
        return r;
}

/* Names are a convenience: without them there are the ids. */
static void add_names(sd_bus *bus, json_t *nodes)
{
        g_autoptr(AldMessage) reply = NULL;
        json_t *names, *node;
        size_t i;

        if (ald_bus_await(bus, ALD_STATE_NAME, NULL) < 0 ||
                sd_bus_call_method(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetIdentities",
                        NULL, &reply, NULL) < 0)
                return;
        names = json_object();
        (void) read_names(reply, names);
        json_array_foreach(nodes, i, node) {
                const char *id = ald_field_text(node, "Id");
                json_t *name = id ? json_object_get(names, id) : NULL;

                if (name)
                        json_object_set(node, "FriendlyName", name);
        }
        json_decref(names);
}

int ald_cluster_status_read(const AldCtl *ctl, json_t **ret, char **ret_problem)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        json_t *object;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK) {
                *ret_problem = g_strdup("cannot connect to the bus");
                return r;
        }
        object = json_object();
        r = ald_bus_await(bus, ALD_CLUSTER_NAME, &error);
        if (r >= 0)
                r = read_properties(bus, object, &error);
        if (r >= 0)
                r = read_rows(bus, "GetBrokers", "Brokers", object, &error);
        if (r >= 0)
                r = read_rows(bus, "GetNodes", "Nodes", object, &error);
        if (r < 0) {
                json_decref(object);
                if (!sd_bus_error_is_set(&error))
                        (void) sd_bus_error_set_errno(&error, r);
                *ret_problem = g_strdup(error.message ? error.message : error.name);
                return ald_bus_exit_code(&error);
        }
        add_names(bus, json_object_get(object, "Nodes"));
        add_refused_records(bus, object);
        *ret = object;
        return ALD_EXIT_OK;
}
