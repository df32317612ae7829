/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/identity/hostname1-bus.h"
#include "services/common/peer.h"

#define NAME "org.freedesktop.hostname1"
#define PATH "/org/freedesktop/hostname1"

struct AldHostname1Client {
        sd_bus *bus;
        AldPeer *peer;
        sd_bus_slot *query; /* the pending call */
        AldHostname1Changed changed;
        void *userdata;
};

static const struct {
        const char *property;
        size_t offset;
} fields[] = {
        { "PrettyHostname", offsetof(AldHostname1, pretty_hostname) },
        { "StaticHostname", offsetof(AldHostname1, static_hostname) },
        { "Hostname", offsetof(AldHostname1, hostname) },
        { "HardwareVendor", offsetof(AldHostname1, vendor) },
        { "HardwareModel", offsetof(AldHostname1, model) },
        { "Chassis", offsetof(AldHostname1, chassis) },
};

static const char **find_field(AldHostname1 *values, const char *property)
{
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
                if (g_str_equal(fields[i].property, property))
                        return (const char **) ((char *) values + fields[i].offset);
        return NULL;
}

static int read_value(sd_bus_message *reply, const char **field)
{
        const char *contents;
        int r;

        r = sd_bus_message_peek_type(reply, NULL, &contents);
        if (r < 0)
                return r;
        if (field && g_str_equal(contents, "s"))
                return sd_bus_message_read(reply, "v", "s", field);
        return sd_bus_message_skip(reply, "v");
}

static int read_values(sd_bus_message *reply, AldHostname1 *ret)
{
        int r = sd_bus_message_enter_container(reply, 'a', "{sv}");

        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                const char *property;

                r = sd_bus_message_read(reply, "s", &property);
                if (r >= 0)
                        r = read_value(reply, find_field(ret, property));
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
        }
        return r;
}

static int on_values(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        AldHostname1Client *client = userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        AldHostname1 values = { 0 };
        int r;

        client->query = sd_bus_slot_unref(client->query);
        if (error) {
                g_info("hostname1 did not answer: %s", error->message);
                return 0;
        }
        r = read_values(reply, &values);
        if (r < 0)
                g_warning("Failed to parse the answer of hostname1: %s", g_strerror(-r));
        else
                client->changed(&values, client->userdata);
        return 0;
}

/* A pending call already returns the values after all signals so far, so a second one is not needed. */
void ald_hostname1_client_refresh(AldHostname1Client *client)
{
        int r;

        if (!client || client->query)
                return;
        r = sd_bus_call_method_async(client->bus, &client->query, NAME, PATH,
                "org.freedesktop.DBus.Properties", "GetAll", on_values, client, "s", NAME);
        if (r < 0)
                g_info("Failed to call hostname1: %s", g_strerror(-r));
}

static int on_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        ald_hostname1_client_refresh(userdata);
        return 0;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        if (owner)
                ald_hostname1_client_refresh(userdata);
}

int ald_hostname1_client_new(
        AldService *service, AldHostname1Changed changed, void *userdata, AldHostname1Client **ret)
{
        g_autoptr(AldHostname1Client) client = NULL;
        sd_bus *bus = ald_service_system_bus(service);
        int r;

        if (!bus)
                return 0;
        client = g_new0(AldHostname1Client, 1);
        client->bus = sd_bus_ref(bus);
        client->changed = changed;
        client->userdata = userdata;
        r = ald_peer_new(service, bus, NAME, on_owner, client, &client->peer);
        if (r < 0)
                return r;
        r = ald_peer_match_signal(
                client->peer, PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", NAME, on_changed);
        if (r < 0)
                return r;
        ald_hostname1_client_refresh(client);
        *ret = g_steal_pointer(&client);
        return 0;
}

void ald_hostname1_client_free(AldHostname1Client *client)
{
        if (!client)
                return;
        sd_bus_slot_unref(client->query);
        ald_peer_free(client->peer);
        sd_bus_unref(client->bus);
        g_free(client);
}
