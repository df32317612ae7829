/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/cluster/shown-names.h"
#include "clients/command-line/bus.h"
#include "state-client/value.h"

#define IDENTITY_NAME "org.alidade.Identity1"
#define IDENTITY_PATH "/org/alidade/Identity1"
#define IDENTITY_INTERFACE "org.alidade.Node1.Identity"

/* Reads the identities by node, a{sa{sv}}. */
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

json_t *ald_shown_names_read(sd_bus *bus)
{
        g_autoptr(AldMessage) reply = NULL;
        json_t *names = json_object();

        if (ald_bus_await(bus, ALD_STATE_NAME, NULL) >= 0 &&
                sd_bus_call_method(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetIdentities",
                        NULL, &reply, NULL) >= 0)
                (void) read_names(reply, names);
        return names;
}

char *ald_shown_own_name(void)
{
        g_autoptr(AldOwnBus) bus = NULL;
        g_autofree char *name = NULL;

        /* The service starts on demand. If the bus does not run yet, the host name has to suffice. */
        if (ald_connection_open(NULL, &bus) >= 0 && ald_connection_await(bus, false, NULL, NULL) >= 0 &&
                sd_bus_set_method_call_timeout(bus, ALD_NOTICE_USEC) >= 0 &&
                sd_bus_get_property_string(bus, IDENTITY_NAME, IDENTITY_PATH, IDENTITY_INTERFACE,
                        "FriendlyName", NULL, &name) >= 0 &&
                *name)
                return g_strdup(name);
        return g_strdup(g_get_host_name());
}
