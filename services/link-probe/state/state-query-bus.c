/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "record/update-bus.h"
#include "services/common/errors.h"
#include "services/link-probe/state/state-query-bus.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"
#define CALLS_MAX 128u
#define CALLS_KEPT 16u /* calls kept for the schedule; requests of users share the rest */
#define TIMEOUT_USEC (UINT64_C(25) * G_USEC_PER_SEC)

/* The maximum memory of all rows of a reply. A large subnet is one segment with thousands of ports, and a
 * reply has at most 16 MiB. */
#define DUE_BYTES_MAX ALD_RECORD_MAX
#define SEGMENTS_BYTES_MAX (16u * 1024 * 1024)

/* The number of records in a page, small enough that neither service is busy with it for long; and of pages
 * in total. */
#define RECORDS_MAX 200u
#define PAGES_MAX 100u

typedef struct Call Call;

struct Call {
        AldStateQuery *query;
        sd_bus_slot *slot;
        /* Reads the reply, which is NULL on error, and passes the answer on to the caller. */
        void (*answer)(const Call *call, int error, sd_bus_message *reply);
        union {
                AldNodeAnswer node;
                AldRowsAnswer rows;
                AldNetworksAnswer networks;
        } answered;
        void *userdata;
        unsigned pages; /* pages read before this one */
        bool scheduled; /* sent for the schedule */
};

struct AldStateQuery {
        sd_bus *bus;
        bool wanted[ALD_N_KINDS];
        GPtrArray *calls;
};

static void call_free(gpointer data)
{
        Call *call = data;

        sd_bus_slot_unref(call->slot);
        g_free(call);
}

AldStateQuery *ald_state_query_new(sd_bus *bus, const bool wanted[static ALD_N_KINDS])
{
        AldStateQuery *query = g_new0(AldStateQuery, 1);

        query->bus = bus;
        memcpy(query->wanted, wanted, sizeof query->wanted);
        query->calls = g_ptr_array_new_with_free_func(call_free);
        return query;
}

void ald_state_query_free(AldStateQuery *query)
{
        if (!query)
                return;
        g_ptr_array_unref(query->calls);
        g_free(query);
}

/* Converts the result of a read, which is positive on success, to 0 or an error. */
static int error_of(int r)
{
        return MIN(r, 0);
}

/* Of our own error codes, the state service uses only the one of an unknown node in its replies. */
static int error_of_reply(sd_bus_message *reply)
{
        int error = sd_bus_message_get_errno(reply);

        return error >= ALD_E_NO_SUCH_NODE && error != ALD_E_NO_SUCH_NODE ? -EREMOTEIO : -error;
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        const Call call = *(Call *) userdata;
        bool failed = sd_bus_message_is_method_error(reply, NULL) > 0;

        g_ptr_array_remove_fast(call.query->calls, userdata);
        call.answer(&call, failed ? error_of_reply(reply) : 0, failed ? NULL : reply);
        return 0;
}

static int new_call(const AldStateQuery *query, const char *method, sd_bus_message **ret)
{
        return sd_bus_message_new_method_call(query->bus, ret, STATE_NAME, STATE_PATH, STATE_NAME, method);
}

static int send_call(AldStateQuery *query, const Call *about, sd_bus_message *message)
{
        Call *call;
        int r;

        if (query->calls->len >= (about->scheduled ? CALLS_MAX : CALLS_MAX - CALLS_KEPT))
                return -EUSERS;
        call = g_memdup2(about, sizeof *about);
        call->query = query;
        r = sd_bus_call_async(query->bus, &call->slot, message, on_reply, call, TIMEOUT_USEC);
        if (r < 0) {
                call_free(call);
                return r;
        }
        g_ptr_array_add(query->calls, call);
        return 0;
}

static const Call *find_call(const AldStateQuery *query, const Call *like)
{
        for (unsigned i = 0; i < query->calls->len; i++) {
                const Call *call = query->calls->pdata[i];

                if (call->answer == like->answer && call->userdata == like->userdata)
                        return call;
        }
        return NULL;
}

static int send_with_string(AldStateQuery *query, const Call *about, const char *method, const char *argument)
{
        g_autoptr(AldMessage) message = NULL;
        int r = new_call(query, method, &message);

        if (r >= 0)
                r = sd_bus_message_append(message, "s", argument);
        return r < 0 ? r : send_call(query, about, message);
}

/* Reads a record. Skips a kind that is not wanted or occurs twice. */
static int read_record(
        const AldStateQuery *query, sd_bus_message *message, const char *name, AldNodeRecords *records)
{
        int kind = ald_kind_from_name(name);

        return kind >= 0 && query->wanted[kind] && !records->of[kind]
                       ? ald_record_bus_read(message, (AldKind) kind, NULL, &records->of[kind], NULL)
                       : sd_bus_message_skip(message, "a{sv}");
}

static int read_profile(const AldStateQuery *query, sd_bus_message *message, AldNodeRecords *records)
{
        const char *kind;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sa{sv}}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sa{sv}")) > 0) {
                r = sd_bus_message_read(message, "s", &kind);
                if (r >= 0)
                        r = read_record(query, message, kind, records);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

static void answer_node(const Call *call, int error, sd_bus_message *reply)
{
        g_auto(AldNodeRecords) records = { 0 };

        if (error >= 0)
                error = error_of(read_profile(call->query, reply, &records));
        call->answered.node(error, &records, call->userdata);
}

int ald_state_query_node(AldStateQuery *query, const char *node, AldNodeAnswer answered, void *userdata)
{
        const Call call = { .answer = answer_node, .answered.node = answered, .userdata = userdata };

        return send_with_string(query, &call, "GetProfile", node);
}

int ald_state_query_own(AldStateQuery *query, const char *own_id, AldNodeAnswer answered, void *userdata)
{
        const Call call = {
                .answer = answer_node, .answered.node = answered, .userdata = userdata, .scheduled = true
        };

        g_ptr_array_remove_fast(query->calls, (gpointer) find_call(query, &call));
        return send_with_string(query, &call, "GetProfile", own_id);
}

static void answer_rows(
        const Call *call, int error, sd_bus_message *reply, const AldStruct *type, size_t max_bytes)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows = { .type = type };

        if (error >= 0)
                error = error_of(ald_record_bus_read_rows(reply, type, max_bytes, owned, &rows));
        call->answered.rows(error, &rows, call->userdata);
}

static void answer_segments(const Call *call, int error, sd_bus_message *reply)
{
        if (error >= 0)
                error = error_of(sd_bus_message_skip(reply, "aa{sv}")); /* the ports */
        answer_rows(call, error, reply, &ald_segment_row_struct, SEGMENTS_BYTES_MAX);
}

int ald_state_query_segments(AldStateQuery *query, const char *node, AldRowsAnswer answered, void *userdata)
{
        const Call call = { .answer = answer_segments, .answered.rows = answered, .userdata = userdata };

        return send_with_string(query, &call, "GetFabric", node);
}

static void answer_due(const Call *call, int error, sd_bus_message *reply)
{
        answer_rows(call, error, reply, &ald_due_probe_row_struct, DUE_BYTES_MAX);
}

static int open_option(sd_bus_message *message, const char *name, const char *signature)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", name);
        return r < 0 ? r : sd_bus_message_open_container(message, 'v', signature);
}

static int close_option(sd_bus_message *message)
{
        int r = sd_bus_message_close_container(message);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_traffic(sd_bus_message *message, GHashTable *traffic)
{
        GHashTableIter iter;
        gpointer name, rate;
        int r;

        if (!traffic)
                return 0;
        r = open_option(message, "Traffic", "a{st}");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{st}");
        g_hash_table_iter_init(&iter, traffic);
        while (r >= 0 && g_hash_table_iter_next(&iter, &name, &rate))
                r = sd_bus_message_append(message, "{st}", name, *(uint64_t *) rate);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : close_option(message);
}

static int append_strings(sd_bus_message *message, const char *name, const char *const *strings)
{
        int r;

        if (!strings)
                return 0;
        r = open_option(message, name, "as");
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **) strings);
        return r < 0 ? r : close_option(message);
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
                r = append_strings(message, "AvoidPaths", question->avoid_paths);
        if (r >= 0)
                r = append_strings(message, "AvoidDevices", question->avoid_devices);
        if (r >= 0)
                r = append_strings(message, "Kinds", question->kinds);
        if (r >= 0 && question->bytes_per_hour != ALD_ABSENT_UINT64)
                r = sd_bus_message_append(message, "{sv}", "BytesPerHour", "t", question->bytes_per_hour);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_state_query_due(
        AldStateQuery *query, const AldDueQuestion *question, AldRowsAnswer answered, void *userdata)
{
        const Call call = {
                .answer = answer_due, .answered.rows = answered, .userdata = userdata, .scheduled = true
        };
        g_autoptr(AldMessage) message = NULL;
        int r;

        g_ptr_array_remove_fast(query->calls, (gpointer) find_call(query, &call));
        r = new_call(query, "GetDueProbes", &message);
        if (r >= 0)
                r = append_question(message, question);
        return r < 0 ? r : send_call(query, &call, message);
}

static int read_page(const Call *call, sd_bus_message *message, const char **ret_next)
{
        g_auto(AldUpdateRow) row = {};
        int r = sd_bus_message_enter_container(message, 'a', ALD_UPDATE_SIGNATURE);

        while (r >= 0 && (r = ald_update_bus_read(message, &row)) > 0)
                if (row.refusal == 0 && row.update.record && row.update.kind == ALD_KIND_NETWORK)
                        call->answered.networks(0, row.node,
                                ald_record_as(row.update.record, NETWORK, AldNetwork), call->userdata);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_read(message, "s", ret_next);
}

static int send_page(AldStateQuery *query, const Call *about, const char *after)
{
        g_autoptr(AldMessage) message = NULL;
        int r = new_call(query, "GetRecords", &message);

        if (r >= 0)
                r = sd_bus_message_append(
                        message, "sst", ald_kinds[ALD_KIND_NETWORK].name, after, (uint64_t) RECORDS_MAX);
        return r < 0 ? r : send_call(query, about, message);
}

static void answer_page(const Call *call, int error, sd_bus_message *reply)
{
        Call next = *call;
        const char *after = "";

        next.slot = NULL;
        next.pages++;
        if (error >= 0)
                error = error_of(read_page(call, reply, &after));
        if (error >= 0 && *after != '\0' && next.pages < PAGES_MAX) {
                error = send_page(call->query, &next, after);
                if (error >= 0)
                        return;
        }
        call->answered.networks(error, NULL, NULL, call->userdata);
}

int ald_state_query_networks(AldStateQuery *query, AldNetworksAnswer answered, void *userdata)
{
        const Call call = {
                .answer = answer_page, .answered.networks = answered, .userdata = userdata, .scheduled = true
        };

        return find_call(query, &call) ? -EBUSY : send_page(query, &call, "");
}
