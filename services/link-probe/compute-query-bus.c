/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/compute-query-bus.h"
#include "record/record-bus.h"
#include "services/common/bus-cleanup.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"

struct AldComputeQuery {
        AldService *service;
        sd_bus_slot *due;
        AldComputeDueAnswer due_answered;
        void *due_userdata;
};

AldComputeQuery *ald_compute_query_new(AldService *service)
{
        AldComputeQuery *query = g_new0(AldComputeQuery, 1);

        query->service = service;
        return query;
}

void ald_compute_query_free(AldComputeQuery *query)
{
        if (!query)
                return;
        sd_bus_slot_unref(query->due);
        g_free(query);
}

/* The first device; NULL: there is none. The string points into the message. */
static int read_device(sd_bus_message *message, const char **ret)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r = ald_record_bus_read_rows(message, &ald_due_probe_row_struct, ALD_RECORD_MAX, owned, &rows);

        for (size_t i = 0; r >= 0 && i < rows.n && !*ret; i++) {
                const AldDueProbeRow *row = ald_rows_at(&rows, i);

                if (g_strcmp0(row->kind, ald_kinds[ALD_KIND_COMPUTE].name) == 0)
                        *ret = row->address;
        }
        return r;
}

static int on_due(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        AldComputeQuery *query = userdata;
        const char *device = NULL;
        int r;

        query->due = sd_bus_slot_unref(query->due);
        if (sd_bus_message_is_method_error(reply, NULL)) {
                query->due_answered(-sd_bus_message_get_errno(reply), NULL, query->due_userdata);
                return 0;
        }
        r = read_device(reply, &device);
        query->due_answered(MIN(r, 0), r < 0 ? NULL : device, query->due_userdata);
        return 0;
}

static int append_strings(sd_bus_message *message, const char *name, const char *const *strings)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", name);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "as");
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **) strings);
        for (unsigned i = 0; r >= 0 && i < 2; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_question(sd_bus_message *message, const char *const *avoid)
{
        const char *const kinds[] = { ald_kinds[ALD_KIND_COMPUTE].name, NULL };
        int r;

        r = sd_bus_message_append(message, "t", UINT64_C(1));
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = append_strings(message, "Kinds", kinds);
        if (r >= 0)
                r = append_strings(message, "AvoidDevices", avoid);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

void ald_compute_query_due(
        AldComputeQuery *query, const char *const *avoid, AldComputeDueAnswer answered, void *userdata)
{
        sd_bus *bus = ald_service_bus(query->service);
        g_autoptr(AldMessage) call = NULL;
        int r;

        query->due = sd_bus_slot_unref(query->due);
        query->due_answered = answered;
        query->due_userdata = userdata;
        r = sd_bus_message_new_method_call(bus, &call, STATE_NAME, STATE_PATH, STATE_NAME, "GetDueProbes");
        if (r >= 0)
                r = append_question(call, avoid);
        if (r >= 0)
                r = sd_bus_call_async(bus, &query->due, call, on_due, query, 0);
        if (r < 0)
                g_info("Cannot ask %s which device is due: %s", STATE_NAME, g_strerror(-r));
}
