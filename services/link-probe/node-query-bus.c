/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/record-bus.h"
#include "services/link-probe/node-query-bus.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"
#define ASKED_MAX 64u

/* A question that waits for its answer. */
typedef struct Asked {
        AldNodeQuery *query;
        sd_bus_slot *slot;
        AldNodeAnswer answered;
        void *userdata;
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

int ald_node_query_ask(AldNodeQuery *query, const char *node, AldNodeAnswer answered, void *userdata)
{
        Asked *asked;
        int r;

        if (query->asked->len >= ASKED_MAX)
                return -EUSERS;
        asked = g_new0(Asked, 1);
        asked->query = query;
        asked->answered = answered;
        asked->userdata = userdata;
        r = sd_bus_call_method_async(ald_service_bus(query->service), &asked->slot, STATE_NAME, STATE_PATH,
                STATE_NAME, "GetProfile", on_profile, asked, "s", node);
        if (r < 0) {
                asked_free(asked);
                return r;
        }
        g_ptr_array_add(query->asked, asked);
        return 0;
}
