/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/id.h"
#include "record/record-bus.h"
#include "services/common/bus-cleanup.h"
#include "services/link-probe/state-query-bus.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"
#define TARGETS_MAX 64u

struct AldStateQuery {
        AldService *service;
        bool complained;
        sd_bus_slot *due;
        AldDueAnswer due_answered;
        void *due_userdata;
};

AldStateQuery *ald_state_query_new(AldService *service)
{
        AldStateQuery *query = g_new0(AldStateQuery, 1);

        query->service = service;
        return query;
}

void ald_state_query_free(AldStateQuery *query)
{
        if (!query)
                return;
        sd_bus_slot_unref(query->due);
        g_free(query);
}

static void complain(AldStateQuery *query, const char *what)
{
        if (!query->complained)
                g_info("%s does not say what is due: %s", STATE_NAME, what);
        query->complained = true;
}

static void add_target(const AldDueProbeRow *row, GArray *targets)
{
        int transport = row->kind ? ald_transport_of_kind(row->kind) : -ENOENT;
        int scope = row->scope ? ald_link_scope_from_string(row->scope) : ALD_LINK_SCOPE_FULL;
        AldProbeTarget target;
        AldId id;

        if (transport < 0 || scope < 0 || targets->len >= TARGETS_MAX || !row->peer || !row->address ||
                ald_id_parse(row->peer, &id) < 0 ||
                ald_probe_target_set(&target, row->peer, row->address, row->interface ? row->interface : "") <
                        0)
                return;
        if (transport == ALD_TRANSPORT_RDMA &&
                (!row->source_port || !row->sink_port ||
                        ald_probe_target_set_ports(&target, row->source_port, row->sink_port) < 0))
                return;
        target.scope = (AldLinkScope) scope;
        target.automatic = true;
        target.overdue = row->overdue == 1;
        target.despite_traffic = row->despite_traffic == 1;
        g_array_append_val(targets, target);
}

static int read_targets(sd_bus_message *message, GArray *targets)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r = ald_record_bus_read_rows(message, &ald_due_probe_row_struct, ALD_RECORD_MAX, owned, &rows);

        for (size_t i = 0; r >= 0 && i < rows.n; i++)
                add_target(ald_rows_at(&rows, i), targets);
        return r;
}

static int on_due(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        AldStateQuery *query = userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldProbeTarget));
        int r;

        query->due = sd_bus_slot_unref(query->due);
        if (error) {
                complain(query, error->message ?: error->name);
                query->due_answered(NULL, query->due_userdata);
                return 0;
        }
        r = read_targets(reply, targets);
        if (r < 0)
                complain(query, g_strerror(-r));
        else
                query->complained = false;
        query->due_answered(r < 0 ? NULL : targets, query->due_userdata);
        return 0;
}

static int append_traffic(sd_bus_message *message, GHashTable *traffic)
{
        GHashTableIter iter;
        gpointer name, rate;
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", "Traffic");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{st}");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{st}");
        g_hash_table_iter_init(&iter, traffic);
        while (r >= 0 && g_hash_table_iter_next(&iter, &name, &rate))
                r = sd_bus_message_append(message, "{st}", name, *(uint64_t *) rate);
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_strings(sd_bus_message *message, const char *name, GPtrArray *strings)
{
        int r;

        g_ptr_array_add(strings, NULL);
        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", name);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "as");
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **) strings->pdata);
        for (unsigned i = 0; r >= 0 && i < 2; i++)
                r = sd_bus_message_close_container(message);
        g_ptr_array_set_size(strings, (int) strings->len - 1);
        return r;
}

static int append_kinds(sd_bus_message *message, const bool *transports)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", "Kinds");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "as");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "s");
        for (AldTransport i = 0; r >= 0 && i < ALD_TRANSPORT_N; i++)
                if (transports[i])
                        r = sd_bus_message_append(message, "s", ald_kinds[ald_transports[i].kind].name);
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_question(sd_bus_message *message, const AldDueQuestion *question)
{
        int r;

        r = sd_bus_message_append(message, "t", (uint64_t) question->max);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = append_traffic(message, question->traffic);
        if (r >= 0)
                r = append_strings(message, "Avoid", question->avoid);
        if (r >= 0)
                r = append_strings(message, "AvoidPaths", question->paths);
        if (r >= 0)
                r = append_kinds(message, question->transports);
        if (r >= 0)
                r = sd_bus_message_append(message, "{sv}", "BytesPerHour", "t", question->bytes_per_hour);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

void ald_state_query_due(
        AldStateQuery *query, const AldDueQuestion *question, AldDueAnswer answered, void *userdata)
{
        sd_bus *bus = ald_service_bus(query->service);
        g_autoptr(AldMessage) call = NULL;
        int r;

        query->due = sd_bus_slot_unref(query->due);
        query->due_answered = answered;
        query->due_userdata = userdata;
        r = sd_bus_message_new_method_call(bus, &call, STATE_NAME, STATE_PATH, STATE_NAME, "GetDueProbes");
        if (r >= 0)
                r = append_question(call, question);
        if (r >= 0)
                r = sd_bus_call_async(bus, &query->due, call, on_due, query, 0);
        if (r < 0)
                complain(query, g_strerror(-r));
}
