/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "record/record-bus.h"
#include "record/record-key.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/common/vtables.h"
#include "services/history/history-bus.h"

#define ACTION_SILENCE "org.alidade.history.silence"
#define EVENTS_MAX 2000u /* in a reply */
#define SERIES_MAX 64u   /* in a reply, which has no more points than one of a single series */

struct AldHistoryBus {
        AldService *service;
        AldHistoryManager *manager;
        AldProperties properties;
};

static int set_invalid_args(sd_bus_error *error, const char *text)
{
        return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, text);
}

static int set_not_stored(const AldHistoryBus *bus, sd_bus_error *error, int r)
{
        const char *problem = ald_history_manager_problem(bus->manager);

        return sd_bus_error_set(error, ALD_ERROR_NOT_STORED, *problem ? problem : g_strerror(-r));
}

static bool is_id(const char *text)
{
        AldId id;

        return ald_id_parse(text, &id) >= 0;
}

static int send_reply(const AldHistoryBus *bus, sd_bus_message *message, sd_bus_message *answer, size_t bytes)
{
        int r = sd_bus_send(NULL, answer, NULL);

        if (r >= 0)
                ald_service_note_reply(bus->service, message, bytes);
        return r;
}

/* The range of a request for series. */
typedef struct SeriesRange {
        uint64_t from, to;
        uint32_t points;
} SeriesRange;

static const char *find_fault_of_name(const AldSeriesName *name)
{
        int kind = ald_kind_from_name(name->kind);

        if (!is_id(name->node))
                return "Node: not a node id";
        if (kind < 0)
                return "Kind: no such kind of record";
        if (ald_key_parse((AldKind) kind, name->key, NULL) < 0)
                return ald_kinds[kind].is_link ? "Key: not the key of a link" : "Key: a node has none";
        if (!ald_recorder_is_field((AldKind) kind, name->field))
                return "Field: not a number of this kind of record";
        if (strlen(name->field) > ALD_SERIES_WORD_MAX)
                return "Field: too long";
        return NULL;
}

static const char *find_fault_of_range(const SeriesRange *range)
{
        if (range->from > ALD_HISTORY_TIME_MAX || range->to > ALD_HISTORY_TIME_MAX)
                return "FromUSec and ToUSec must be at most 2^53";
        if (range->to <= range->from)
                return "ToUSec must be later than FromUSec";
        if (range->points == 0 || range->points > ALD_HISTORY_POINTS_MAX)
                return "Points must be from 1 to 10000";
        return NULL;
}

static int append_points(sd_bus_message *message, const GArray *buckets, size_t *bytes)
{
        int r = ald_record_bus_open_rows(message, &ald_history_point_struct);

        for (guint i = 0; i < buckets->len && r >= 0; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);
                const AldHistoryPoint point = { .time_usec = (uint64_t) MAX(bucket->start, 0),
                        .mean = bucket->mean,
                        .min = bucket->min,
                        .max = bucket->max,
                        .count = bucket->count };

                r = ald_record_bus_append_row(message, &ald_history_point_struct, &point);
                *bytes += ald_struct_wire_size(&ald_history_point_struct, &point);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int reply_points(const AldHistoryBus *bus, sd_bus_message *call, const GArray *buckets)
{
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        int r = sd_bus_message_new_method_return(call, &reply);

        if (r >= 0)
                r = append_points(reply, buckets, &bytes);
        return r < 0 ? r : send_reply(bus, call, reply, bytes);
}

/* Returns whether the node or link is within the scope, although nothing may be recorded of it yet. */
static bool is_within_scope(const AldHistoryBus *bus, const AldSeriesName *name)
{
        g_autofree char *id = *name->key ? g_strconcat(name->node, "/", name->key, NULL)
                                         : g_strdup(name->node);

        return ald_history_manager_keeps(bus->manager, id);
}

/* Returns -ENODATA if the node or link is not recorded. */
static int query_series(
        const AldHistoryBus *bus, const AldSeriesName *name, const SeriesRange *range, GArray **ret)
{
        int r = ald_history_query(ald_history_manager_history(bus->manager), name, (int64_t) range->from,
                (int64_t) range->to, range->points, ret);

        if (r != -ENODATA || !is_within_scope(bus, name))
                return r;
        *ret = g_array_new(FALSE, FALSE, sizeof(AldBucket));
        return 0;
}

static int method_get_series(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        g_autoptr(GArray) buckets = NULL;
        AldSeriesName name;
        SeriesRange range;
        const char *fault;
        int r = sd_bus_message_read(message, "ssssttu", &name.node, &name.kind, &name.key, &name.field,
                &range.from, &range.to, &range.points);

        if (r < 0)
                return ald_error_unreadable(r, error);
        fault = find_fault_of_name(&name) ?: find_fault_of_range(&range);
        if (fault)
                return set_invalid_args(error, fault);
        r = query_series(bus, &name, &range, &buckets);
        if (r == -ENODATA)
                return sd_bus_error_set(
                        error, ALD_ERROR_NOT_KEPT, "This machine does not record this node or link");
        if (r < 0)
                return set_not_stored(bus, error, r);
        return reply_points(bus, message, buckets);
}

/* Returns 1 if the names are valid, else an error as sd_bus_error_set() does. */
static int read_names(sd_bus_message *message, GArray *names, sd_bus_error *error)
{
        AldSeriesName name;
        int r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "(ssss)");

        while (r >= 0 && (r = sd_bus_message_read(
                                  message, "(ssss)", &name.node, &name.kind, &name.key, &name.field)) > 0) {
                const char *fault = find_fault_of_name(&name);

                if (names->len == SERIES_MAX)
                        return sd_bus_error_setf(
                                error, SD_BUS_ERROR_INVALID_ARGS, "Names must be %u at most", SERIES_MAX);
                if (fault)
                        return sd_bus_error_setf(
                                error, SD_BUS_ERROR_INVALID_ARGS, "Names[%u]: %s", names->len, fault);
                g_array_append_val(names, name);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? ald_error_unreadable(r, error) : 1;
}

static int read_range(sd_bus_message *message, guint n_series, SeriesRange *ret, sd_bus_error *error)
{
        const char *fault;
        int r = sd_bus_message_read(message, "ttu", &ret->from, &ret->to, &ret->points);

        if (r < 0)
                return ald_error_unreadable(r, error);
        fault = find_fault_of_range(ret);
        if (fault)
                return set_invalid_args(error, fault);
        if (n_series * ret->points > ALD_HISTORY_POINTS_MAX)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                        "Points: %u series may have at most %u each", n_series,
                        ALD_HISTORY_POINTS_MAX / n_series);
        return 1;
}

/* Appends a series. One that is not recorded has no points. */
static int append_series(sd_bus_message *answer, const GArray *buckets, size_t *bytes)
{
        g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(AldBucket));
        int r = sd_bus_message_open_container(answer, SD_BUS_TYPE_STRUCT, "baa{sv}");

        if (r >= 0)
                r = sd_bus_message_append(answer, "b", buckets != NULL);
        if (r >= 0)
                r = append_points(answer, buckets ?: none, bytes);
        return r < 0 ? r : sd_bus_message_close_container(answer);
}

static int method_get_several_series(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(AldSeriesName));
        g_autoptr(AldMessage) answer = NULL;
        SeriesRange range;
        size_t bytes = 0;
        int r = read_names(message, names, error);

        if (r > 0)
                r = read_range(message, names->len, &range, error);
        if (r <= 0)
                return r;
        r = sd_bus_message_new_method_return(message, &answer);
        if (r >= 0)
                r = sd_bus_message_open_container(answer, SD_BUS_TYPE_ARRAY, "(baa{sv})");
        for (guint i = 0; i < names->len && r >= 0; i++) {
                g_autoptr(GArray) buckets = NULL;

                r = query_series(bus, &g_array_index(names, AldSeriesName, i), &range, &buckets);
                if (r < 0 && r != -ENODATA)
                        return set_not_stored(bus, error, r);
                r = append_series(answer, buckets, &bytes);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(answer);
        return r < 0 ? r : send_reply(bus, message, answer, bytes);
}

static int method_get_range(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        uint64_t oldest, now;
        int r = ald_history_manager_range(bus->manager, &oldest, &now);

        if (r == -ENODATA)
                return sd_bus_error_set(error, ALD_ERROR_NOT_KEPT, "Nothing is recorded yet");
        if (r < 0)
                return set_not_stored(bus, error, r);
        return sd_bus_reply_method_return(message, "tt", oldest, now);
}

typedef struct EventReply {
        sd_bus_message *message;
        GPtrArray *rows; /* of findings, which follow the events */
        size_t bytes;
        int error;
} EventReply;

static void append_event(const AldKeptEvent *event, void *userdata)
{
        EventReply *reply = userdata;
        const AldHistoryEvent row = { .event = (uint64_t) event->id,
                .began_usec = (uint64_t) event->began,
                .ended_usec = event->ended == INT64_MAX ? ALD_ABSENT_UINT64 : (uint64_t) event->ended };
        AldFindingRow *finding = ald_finding_log_row(event->text);

        if (!finding) {
                AldFindingRow bare = ALD_FINDING_ROW_INIT;

                bare.id = event->finding;
                finding = ald_struct_dup(&ald_finding_row_struct, &bare);
        }
        g_ptr_array_add(reply->rows, finding);
        reply->bytes += ald_struct_wire_size(&ald_history_event_struct, &row) +
                        ald_struct_wire_size(&ald_finding_row_struct, finding);
        if (reply->error >= 0)
                reply->error = ald_record_bus_append_row(reply->message, &ald_history_event_struct, &row);
}

static int append_findings(sd_bus_message *message, const GPtrArray *rows, size_t *bytes)
{
        int r = ald_record_bus_open_rows(message, &ald_finding_row_struct);

        for (guint i = 0; i < rows->len && r >= 0; i++) {
                r = ald_record_bus_append_row(message, &ald_finding_row_struct, rows->pdata[i]);
                *bytes += ald_struct_wire_size(&ald_finding_row_struct, rows->pdata[i]);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int method_get_events(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        g_autoptr(AldMessage) answer = NULL;
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
        EventReply reply = { .rows = rows };
        uint64_t from, to;
        size_t unused = 0;
        int r = sd_bus_message_read(message, "tt", &from, &to), more;

        if (r < 0)
                return r;
        if (from > ALD_HISTORY_TIME_MAX || to > ALD_HISTORY_TIME_MAX || to <= from)
                return set_invalid_args(error, "ToUSec must be later than FromUSec, and both at most 2^53");
        r = sd_bus_message_new_method_return(message, &answer);
        if (r >= 0)
                r = ald_record_bus_open_rows(answer, &ald_history_event_struct);
        if (r < 0)
                return r;
        reply.message = answer;
        more = ald_history_visit_events(ald_history_manager_history(bus->manager), (int64_t) from,
                (int64_t) to, EVENTS_MAX, append_event, &reply);
        if (more < 0 && more != -E2BIG)
                return set_not_stored(bus, error, more);
        r = reply.error < 0 ? reply.error : sd_bus_message_close_container(answer);
        if (r >= 0)
                r = append_findings(answer, rows, &unused);
        if (r >= 0)
                r = sd_bus_message_append(answer, "b", more == -E2BIG);
        return r < 0 ? r : send_reply(bus, message, answer, reply.bytes);
}

static int method_get_findings(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        g_autoptr(AldMessage) answer = NULL;
        g_autoptr(GPtrArray) rows = ald_history_manager_slower(bus->manager);
        size_t bytes = 0;
        int r = sd_bus_message_new_method_return(message, &answer);

        if (r >= 0)
                r = append_findings(answer, rows, &bytes);
        return r < 0 ? r : send_reply(bus, message, answer, bytes);
}

static int set_silence_error(sd_bus_error *error, int r)
{
        switch (r) {
        case -E2BIG:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "There are %u silences, which is the limit", ALD_SILENCES_MAX);
        case -ENOENT:
                return sd_bus_error_set(error, ALD_ERROR_NO_SUCH_SILENCE, "There is no such silence");
        default:
                return sd_bus_error_set(
                        error, ALD_ERROR_NOT_STORED, "The silences could not be written; see the log");
        }
}

static const char *find_fault_of_nodes(const char *node, const char *peer)
{
        if (!is_id(node))
                return "Node: not a node id";
        if (*peer && !is_id(peer))
                return "Peer: not a node id";
        return strcmp(node, peer) == 0 ? "Node and Peer are the same" : NULL;
}

static uint64_t uid_of(sd_bus_message *message)
{
        g_autoptr(AldCreds) creds = NULL;
        uid_t uid;

        if (sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds) < 0 ||
                sd_bus_creds_get_euid(creds, &uid) < 0)
                return ALD_ABSENT_UINT64;
        return uid;
}

static int method_silence(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        AldSilenceRow row = ALD_SILENCE_ROW_INIT;
        const char *peer, *fault;
        int r = sd_bus_message_read(message, "ssts", &row.node, &peer, &row.until_usec, &row.reason);

        if (r < 0)
                return ald_error_unreadable(r, error);
        fault = find_fault_of_nodes(row.node, peer) ?: ald_history_silence_refuse(&row);
        if (fault)
                return set_invalid_args(error, fault);
        r = ald_polkit_authorize(bus->service, message, ACTION_SILENCE, method_silence, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        row.peer = *peer ? peer : NULL;
        row.uid = uid_of(message);
        r = ald_history_manager_silence(bus->manager, &row);
        if (r < 0)
                return set_silence_error(error, r);
        return sd_bus_reply_method_return(message, NULL);
}

static int method_unsilence(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        const char *node, *peer, *fault;
        int r = sd_bus_message_read(message, "ss", &node, &peer);

        if (r < 0)
                return ald_error_unreadable(r, error);
        fault = find_fault_of_nodes(node, peer);
        if (fault)
                return set_invalid_args(error, fault);
        r = ald_polkit_authorize(bus->service, message, ACTION_SILENCE, method_unsilence, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_history_manager_unsilence(bus->manager, node, *peer ? peer : NULL);
        if (r < 0)
                return set_silence_error(error, r);
        return sd_bus_reply_method_return(message, NULL);
}

static int method_get_silences(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        const AldFindingLog *log = ald_history_manager_log(bus->manager);
        const GPtrArray *rows = ald_silences_rows(ald_finding_log_silences(log));
        g_autoptr(AldMessage) answer = NULL;
        size_t bytes = 0;
        int r = sd_bus_message_new_method_return(message, &answer);

        if (r >= 0)
                r = ald_record_bus_open_rows(answer, &ald_silence_row_struct);
        for (guint i = 0; i < rows->len && r >= 0; i++) {
                r = ald_record_bus_append_row(answer, &ald_silence_row_struct, rows->pdata[i]);
                bytes += ald_struct_wire_size(&ald_silence_row_struct, rows->pdata[i]);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(answer);
        return r < 0 ? r : send_reply(bus, message, answer, bytes);
}

static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldHistoryBus *bus = of;
        const AldHistory *history = ald_history_manager_history(bus->manager);
        const AldFindingLog *log = ald_history_manager_log(bus->manager);

        *(AldHistoryProperties *) ret = (AldHistoryProperties){
                .scope = ald_history_manager_scope(bus->manager),
                .problem = ald_history_manager_problem(bus->manager),
                .budget_bytes = ald_history_manager_budget(bus->manager),
                .lost_samples = ald_history_lost(history),
                .lost_entries = ald_history_manager_lost_entries(bus->manager),
                .lost_events = ald_history_lost_events(history),
                .left_out_findings = ald_finding_log_left_out(log),
                .withheld_notices = ald_finding_log_withheld(log),
                .refused_signals = ald_service_refused_signals(bus->service),
        };
}

/* Reads the size on request only: it requires the database, which would be too expensive at every change of
 * the other properties. */
static int get_size_bytes(sd_bus *unused, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldHistoryBus *bus = userdata;
        uint64_t size = ALD_ABSENT_UINT64;

        (void) ald_history_size(ald_history_manager_history(bus->manager), &size);
        return sd_bus_message_append(reply, "t", size);
}

static const sd_bus_vtable vtable[] = { ALD_HISTORY1_VTABLE(AldHistoryBus) };

static void emit_notice(const AldHistoryBus *bus, const AldFindingNotice *notice)
{
        g_autoptr(AldMessage) signal = NULL;
        int r = sd_bus_message_new_signal(ald_service_bus(bus->service), &signal, ALD_HISTORY_PATH,
                ALD_HISTORY_INTERFACE, notice->begins ? "FindingBegan" : "FindingEnded");

        if (r >= 0)
                r = sd_bus_message_append(signal, "tt", notice->event, notice->began_usec);
        if (r >= 0 && !notice->begins)
                r = sd_bus_message_append(signal, "t", notice->ended_usec);
        if (r >= 0)
                r = ald_record_bus_append_struct(signal, &ald_finding_row_struct, notice->row);
        if (r >= 0)
                r = sd_bus_send(NULL, signal, NULL);
        if (r < 0)
                g_warning("Cannot send a finding: %s", g_strerror(-r));
        ald_service_note_broadcast(bus->service, ald_struct_wire_size(&ald_finding_row_struct, notice->row));
}

static void emit_changed(AldHistoryBus *bus, const char *signal)
{
        (void) sd_bus_emit_signal(
                ald_service_bus(bus->service), ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE, signal, NULL);
}

static void on_news(AldHistoryNews news, const AldFindingNotice *notice, void *userdata)
{
        AldHistoryBus *bus = userdata;

        switch (news) {
        case ALD_HISTORY_NEWS_NOTICE:
                emit_notice(bus, notice);
                return;
        case ALD_HISTORY_NEWS_PROPERTIES:
                ald_properties_emit(&bus->properties);
                return;
        case ALD_HISTORY_NEWS_SILENCES:
                emit_changed(bus, "SilencesChanged");
                return;
        case ALD_HISTORY_NEWS_FINDINGS:
                emit_changed(bus, "FindingsChanged");
                return;
        }
}

int ald_history_bus_new(AldService *service, AldHistoryManager *manager, AldHistoryBus **ret)
{
        AldHistoryBus *bus = g_new0(AldHistoryBus, 1);
        int r;

        bus->service = service;
        bus->manager = manager;
        bus->properties = (AldProperties){ .service = service,
                .interface = ALD_HISTORY_INTERFACE,
                .type = &ald_history_properties_struct,
                .read = read_properties,
                .of = bus };
        r = ald_properties_export(&bus->properties, vtable);
        if (r < 0) {
                ald_history_bus_free(bus);
                return r;
        }
        ald_history_manager_watch(manager, on_news, bus);
        *ret = bus;
        return 0;
}

void ald_history_bus_free(AldHistoryBus *bus)
{
        if (!bus)
                return;
        ald_properties_clear(&bus->properties);
        g_free(bus);
}
