/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/id.h"
#include "record/record-bus.h"
#include "services/link-probe/node-query-bus.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"
#define ASKED_MAX 64u

/* A question that waits for its answer. */
typedef struct Asked {
        AldNodeQuery *query;
        sd_bus_slot *slot;
        AldNodeAnswer answered;
        AldNeighboursAnswer neighbours_answered;
        void *userdata;
        char nodes[2][ALD_ID_STRING_SIZE]; /* whose ports are asked about */
} Asked;

struct AldNodeQuery {
        AldService *service;
        GPtrArray *asked;
};

static void asked_free(gpointer data)
{
        Asked *asked = data;

        sd_bus_slot_unref(asked->slot);
        g_free(asked);
}

AldNodeQuery *ald_node_query_new(AldService *service)
{
        AldNodeQuery *query = g_new0(AldNodeQuery, 1);

        query->service = service;
        query->asked = g_ptr_array_new_with_free_func(asked_free);
        return query;
}

void ald_node_query_free(AldNodeQuery *query)
{
        if (!query)
                return;
        g_ptr_array_unref(query->asked);
        g_free(query);
}

/* Where the record of a kind goes; NULL: it is not wanted. */
static AldRecord **record_of(AldNodeRecords *records, AldKind kind)
{
        switch (kind) {
        case ALD_KIND_NETWORK:
                return &records->network;
        case ALD_KIND_FABRIC:
                return &records->fabric;
        case ALD_KIND_BACKENDS:
                return &records->backends;
        case ALD_KIND_SYSTEM:
                return &records->system;
        case ALD_KIND_COMPUTE:
                return &records->compute;
        default:
                return NULL;
        }
}

AldNodeRecords ald_node_records_ref(const AldNodeRecords *records)
{
        AldNodeRecords held = *records;

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                AldRecord **record = record_of(&held, kind);

                if (record && *record)
                        ald_record_ref(*record);
        }
        return held;
}

void ald_node_records_clear(AldNodeRecords *records)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                AldRecord **record = record_of(records, kind);

                if (record)
                        g_clear_pointer(record, ald_record_unref);
        }
}

AldDeviceRecords ald_node_records_devices(const AldNodeRecords *records, const char *node)
{
        AldDeviceRecords devices = {
                .backends = ald_record_as(records->backends, BACKENDS, AldBackends),
                .compute = ald_record_as(records->compute, COMPUTE, AldCompute),
                .system = ald_record_as(records->system, SYSTEM, AldSystem),
                .system_usec = records->system ? records->system->updated_usec : 0,
        };

        (void) ald_id_parse(node, &devices.node);
        return devices;
}

static int read_one(sd_bus_message *message, const char *name, AldNodeRecords *records)
{
        int kind = ald_kind_from_name(name);
        AldRecord **record = kind < 0 ? NULL : record_of(records, (AldKind) kind);

        return record && !*record ? ald_record_bus_read(message, (AldKind) kind, NULL, record, NULL)
                                  : sd_bus_message_skip(message, "a{sv}");
}

/* Of all that is known of the node these records. */
static int read_profile(sd_bus_message *message, AldNodeRecords *records)
{
        const char *kind;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sa{sv}}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sa{sv}")) > 0) {
                r = sd_bus_message_read(message, "s", &kind);
                if (r >= 0)
                        r = read_one(message, kind, records);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

static int on_profile(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Asked *asked = userdata;
        g_auto(AldNodeRecords) records = { 0 };
        AldNodeAnswer answered = asked->answered;
        void *asker = asked->userdata;
        int r;

        if (sd_bus_message_is_method_error(reply, NULL))
                r = -sd_bus_message_get_errno(reply);
        else
                r = read_profile(reply, &records);
        g_ptr_array_remove_fast(asked->query->asked, asked);
        answered(MIN(r, 0), &records, asker);
        return 0;
}

static bool concerns(const Asked *asked, const char *member)
{
        for (unsigned i = 0; i < 2; i++)
                if (g_str_has_prefix(member, asked->nodes[i]) && member[strlen(asked->nodes[i])] == ' ')
                        return true;
        return false;
}

/* Of a large subnet only the ports of the two nodes are kept. */
static int read_members(sd_bus_message *message, const Asked *asked, GPtrArray *members)
{
        const char *member;
        int r;

        r = sd_bus_message_enter_container(message, 'v', "as");
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "s");
        while (r >= 0 && (r = sd_bus_message_read(message, "s", &member)) > 0)
                if (concerns(asked, member))
                        g_ptr_array_add(members, (gpointer) member);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_segment(sd_bus_message *message, const Asked *asked, AldNeighbours *neighbours)
{
        g_autoptr(GPtrArray) members = g_ptr_array_new();
        const char *name;
        int r, candidate = 0;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0 && g_str_equal(name, "Members"))
                        r = read_members(message, asked, members);
                else if (r >= 0 && g_str_equal(name, "Candidate"))
                        r = sd_bus_message_read(message, "v", "b", &candidate);
                else if (r >= 0)
                        r = sd_bus_message_skip(message, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        if (r >= 0)
                ald_neighbours_add(neighbours, (const char *const *) members->pdata, members->len, candidate);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_segments(sd_bus_message *message, const Asked *asked, AldNeighbours *neighbours)
{
        int r = sd_bus_message_skip(message, "aa{sv}"); /* the ports */

        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "a{sv}");
        while (r >= 0 && sd_bus_message_at_end(message, false) == 0)
                r = read_segment(message, asked, neighbours);
        return r;
}

static int on_fabric(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Asked *asked = userdata;
        g_autoptr(AldNeighbours) neighbours = ald_neighbours_new();
        AldNeighboursAnswer answered = asked->neighbours_answered;
        void *asker = asked->userdata;

        if (!sd_bus_message_is_method_error(reply, NULL))
                (void) read_segments(reply, asked, neighbours);
        g_ptr_array_remove_fast(asked->query->asked, asked);
        answered(neighbours, asker);
        return 0;
}

static int ask(AldNodeQuery *query, const Asked *about, const char *method, sd_bus_message_handler_t handler,
        const char *node)
{
        Asked *asked;
        int r;

        if (query->asked->len >= ASKED_MAX)
                return -EUSERS;
        asked = g_memdup2(about, sizeof *about);
        asked->query = query;
        r = sd_bus_call_method_async(ald_service_bus(query->service), &asked->slot, STATE_NAME, STATE_PATH,
                STATE_NAME, method, handler, asked, "s", node);
        if (r < 0) {
                asked_free(asked);
                return r;
        }
        g_ptr_array_add(query->asked, asked);
        return 0;
}

int ald_node_query_ask(AldNodeQuery *query, const char *node, AldNodeAnswer answered, void *userdata)
{
        const Asked about = { .answered = answered, .userdata = userdata };

        return ask(query, &about, "GetProfile", on_profile, node);
}

int ald_node_query_ask_neighbours(AldNodeQuery *query, const char *node, const char *other,
        AldNeighboursAnswer answered, void *userdata)
{
        Asked about = { .neighbours_answered = answered, .userdata = userdata };

        g_strlcpy(about.nodes[0], node, sizeof about.nodes[0]);
        g_strlcpy(about.nodes[1], other, sizeof about.nodes[1]);
        return ask(query, &about, "GetFabric", on_fabric, node);
}
