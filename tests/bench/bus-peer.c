/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "tests/bench/bus-peer.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

static int peer_put(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return sd_bus_reply_method_return(message, "tt", UINT64_C(0), UINT64_C(0));
}

static void read_struct(sd_bus_message *message, const AldStruct *type);

static void read_value(sd_bus_message *message, const AldField *field)
{
        const char *signature = ald_field_signature(field), *string;
        uint64_t number;

        if (*signature != 'a') {
                TRY(sd_bus_message_read_basic(message, *signature, &number));
                return;
        }
        TRY(sd_bus_message_enter_container(message, 'a', signature + 1));
        while (sd_bus_message_at_end(message, false) == 0)
                if (field->type == ALD_TYPE_ROWS)
                        read_struct(message, field->rows);
                else
                        TRY(sd_bus_message_read_basic(message, 's', &string));
        TRY(sd_bus_message_exit_container(message));
}

/* The fields come in the order of the table. */
static void read_struct(sd_bus_message *message, const AldStruct *type)
{
        const AldField *field = type->fields;
        const char *name;

        TRY(sd_bus_message_enter_container(message, 'a', "{sv}"));
        while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
                TRY(sd_bus_message_read_basic(message, 's', &name));
                while (strcmp(field->name, name) != 0)
                        field++;
                TRY(sd_bus_message_enter_container(message, 'v', ald_field_signature(field)));
                read_value(message, field);
                TRY(sd_bus_message_exit_container(message));
                TRY(sd_bus_message_exit_container(message));
        }
        TRY(sd_bus_message_exit_container(message));
}

static int peer_read(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const char *node, *kind, *key;
        uint64_t epoch, seq, updated;
        int deleted;

        TRY(sd_bus_message_enter_container(message, 'a', "(ssstttba{sv})"));
        while (sd_bus_message_enter_container(message, 'r', "ssstttba{sv}") > 0) {
                TRY(sd_bus_message_read(
                        message, "ssstttb", &node, &kind, &key, &epoch, &seq, &updated, &deleted));
                read_struct(message, ald_kinds[ald_kind_from_name(kind)].type);
                TRY(sd_bus_message_exit_container(message));
        }
        return peer_put(message, userdata, error);
}

static int peer_get(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        AldRecord **records = userdata;

        TRY(sd_bus_message_new_method_return(message, &reply));
        TRY(sd_bus_message_open_container(reply, 'a', "{sa{sv}}"));
        for (unsigned i = 0; i < NODES * NODE_RECORDS; i++) {
                char key[32];

                g_snprintf(key, sizeof key, "%u", i);
                TRY(sd_bus_message_open_container(reply, 'e', "sa{sv}"));
                TRY(sd_bus_message_append(reply, "s", key));
                TRY(ald_record_bus_append(reply, records[i], 1));
                TRY(sd_bus_message_close_container(reply));
        }
        TRY(sd_bus_message_close_container(reply));
        return sd_bus_send(NULL, reply, NULL);
}

typedef struct Relay {
        char client[256]; /* it gets all changes; "": nobody does */
} Relay;

static int peer_subscribe(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        Relay *relay = userdata;

        g_strlcpy(relay->client, sd_bus_message_get_sender(message), sizeof relay->client);
        return sd_bus_reply_method_return(message, NULL);
}

static void pass_on(sd_bus_message *message, const char *destination)
{
        g_autoptr(AldMessage) copy = NULL;

        TRY(sd_bus_message_new_signal(sd_bus_message_get_bus(message), &copy, PEER_SHOWN,
                "org.freedesktop.DBus.Properties", "PropertiesChanged"));
        if (destination)
                TRY(sd_bus_message_set_destination(copy, destination));
        TRY(sd_bus_message_rewind(message, true));
        TRY(sd_bus_message_copy(copy, message, true));
        TRY(sd_bus_send(NULL, copy, NULL));
}

/* As the state service does: to the subscriber, to everybody, and to the cluster service. */
static int on_source_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const Relay *relay = userdata;

        pass_on(message, relay->client);
        pass_on(message, NULL);
        pass_on(message, "org.alidade.Cluster1");
        return 0;
}

static const sd_bus_vtable relay_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Subscribe", "", "", peer_subscribe, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static const sd_bus_vtable peer_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Put", RECORDS, "tt", peer_put, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Read", RECORDS, "tt", peer_read, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Get", "", "a{sa{sv}}", peer_get, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

void run_peer(void)
{
        AldRecord **records = g_new(AldRecord *, NODES * NODE_RECORDS);
        Relay relay = { 0 };
        sd_bus *bus;
        char key[128];

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (unsigned i = 0; i < NODES * NODE_RECORDS; i++)
                records[i] = fixture_update(i / NODE_RECORDS, i % NODE_RECORDS, NODES, 0, key).record;
        bus = connect_bus(NULL);
        TRY(sd_bus_add_object_vtable(bus, NULL, "/", "org.alidade.Bench1", peer_vtable, records));
        TRY(sd_bus_add_object_vtable(bus, NULL, "/", "org.alidade.Bench1.Relay", relay_vtable, &relay));
        TRY(sd_bus_match_signal(bus, NULL, NULL, PEER_SOURCE, "org.freedesktop.DBus.Properties",
                "PropertiesChanged", on_source_changed, &relay));
        TRY(sd_bus_request_name(bus, "org.alidade.Bench1", 0));
        for (;;) {
                TRY(sd_bus_process(bus, NULL));
                TRY(sd_bus_wait(bus, UINT64_MAX));
        }
}
