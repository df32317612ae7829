/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/bus-source.h"
#include "common/source.h"
#include "state-client/decode.h"
#include "state-client/follow.h"

#define DRIVER "org.freedesktop.DBus"
#define DRIVER_PATH "/org/freedesktop/DBus"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"
#define LOCAL "org.freedesktop.DBus.Local"

#define RETRY_MSEC 3000u                  /* after a failed read */
#define SUBSCRIBE_MSEC 10000u             /* after Subscribe() or Mirror() was refused */
#define REREAD_USEC (30 * G_USEC_PER_SEC) /* if signals do not cover all records */
#define ANSWER_USEC (10 * G_USEC_PER_SEC) /* for a refresh; shows whether the service hangs */
#define PAGES_MAX 100000u
#define FIRST_RECORDS 200u /* of the first page, so that the service writes the next one while it is read */
#define MIB (1024u * 1024)

#define BROADCASTS 5u /* kinds of signals that are followed */

/* A call of Subscribe() or Mirror(). Both are repeated while either is refused. */
typedef struct FollowRequest {
        sd_bus_slot *call; /* the pending one */
        bool refused;      /* by the last answer */
} FollowRequest;

struct AldFollow {
        sd_bus *bus;
        GMainContext *context;
        AldModel *model;
        const AldFollowHandler *handler;
        void *userdata;

        char *owner;           /* unique name of the service, or NULL */
        AldModel *loading;     /* the model being read; signals go there until it replaces the model */
        sd_bus_slot *call;     /* the pending call of the current reading step */
        sd_bus_slot *findings; /* a pending GetFindings() of a refresh */
        sd_bus_slot *topology; /* a pending GetTopology() or GetPairs() */
        GSource *retry;
        sd_bus_slot *matches[3], *directed;
        sd_bus_slot *broadcasts[BROADCASTS]; /* NULL once the service sends us its signals directly */
        FollowRequest subscription, mirroring;
        GSource *resubscribe;
        unsigned pages;
        uint64_t topology_since, topology_after; /* arguments of the pending call for the graph */
        bool topology_pairs;                     /* the pending call is GetPairs() */
        gint64 read_at;                          /* CLOCK_MONOTONIC in µs */
        bool in_step, subscribe, mirror, disconnected;
        bool structs_only; /* the service does not describe its records, or knows more of them than we do */
        bool findings_outdated, topology_outdated; /* a signal of a change came during their reading */
};

static void begin_reading(AldFollow *follow);
static int ask_for_owner(AldFollow *follow);

static void set_timer(AldFollow *follow, GSource **timer, unsigned msec, GSourceFunc callback)
{
        *timer = g_timeout_source_new(msec);
        g_source_set_callback(*timer, callback, follow, NULL);
        g_source_attach(*timer, follow->context);
}

/* Cancels the current reading. */
static void stop_reading(AldFollow *follow)
{
        follow->call = sd_bus_slot_unref(follow->call);
        follow->findings = sd_bus_slot_unref(follow->findings);
        follow->topology = sd_bus_slot_unref(follow->topology);
        ald_source_clear(&follow->retry);
        g_clear_pointer(&follow->loading, ald_model_free);
}

static gboolean on_retry(void *userdata)
{
        AldFollow *follow = userdata;

        ald_source_clear(&follow->retry);
        begin_reading(follow);
        return G_SOURCE_REMOVE;
}

static void fail_reading(AldFollow *follow, const sd_bus_error *error)
{
        stop_reading(follow);
        follow->in_step = false;
        if (follow->owner)
                set_timer(follow, &follow->retry, RETRY_MSEC, on_retry);
        follow->handler->lost(follow, error, follow->userdata);
}

/* Reports that the other machine sends too much. Also closes the connection, since its signals would not stop
 * growing either. */
static void close_too_large(AldFollow *follow)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) sd_bus_error_setf(&error, ALD_FOLLOW_TOO_LARGE,
                "it sends more than a cluster of 10,000 nodes has (%u MiB), so the connection was closed",
                (unsigned) (ald_model_max(follow->model) / MIB));
        sd_bus_close(follow->bus);
        ald_follow_set_disconnected(follow, &error);
}

static void fail_reading_errno(AldFollow *follow, int r)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (r == -EDQUOT) {
                close_too_large(follow);
                return;
        }
        if (r == -EBADMSG || r == -ENXIO)
                (void) sd_bus_error_set(
                        &error, SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply does not match the interface");
        else
                (void) sd_bus_error_set_errno(&error, r);
        fail_reading(follow, &error);
}

/* Calls the state service by its unique name, so that the reply comes from the process whose signals we
 * follow. */
static int call_state(AldFollow *follow, sd_bus_slot **slot, const char *interface, const char *method,
        sd_bus_message_handler_t callback, const char *types, ...)
{
        va_list list;
        int r;

        va_start(list, types);
        r = sd_bus_call_method_asyncv(follow->bus, slot, follow->owner, ALD_STATE_PATH, interface, method,
                callback, follow, types, list);
        va_end(list);
        return r;
}

static void call_step(AldFollow *follow, const char *interface, const char *method,
        sd_bus_message_handler_t callback, const char *types, const char *a, const char *b, uint64_t c)
{
        int r;

        follow->call = sd_bus_slot_unref(follow->call);
        r = call_state(follow, &follow->call, interface, method, callback, types, a, b, c);
        if (r < 0)
                fail_reading_errno(follow, r);
}

static void catch_up(AldFollow *follow);

static void finish_reading(AldFollow *follow)
{
        g_autoptr(AldModel) loaded = g_steal_pointer(&follow->loading);

        stop_reading(follow);
        follow->in_step = true;
        follow->read_at = g_get_monotonic_time();
        ald_model_replace(follow->model, loaded);
        follow->handler->synced(follow, follow->userdata);
        catch_up(follow);
}

static int ask_for_topology(AldFollow *follow, uint64_t after, sd_bus_message_handler_t callback)
{
        follow->topology = sd_bus_slot_unref(follow->topology);
        follow->topology_after = after;
        return call_state(follow, &follow->topology, ALD_STATE_INTERFACE,
                follow->topology_pairs ? "GetPairs" : "GetTopology", callback, "tt", follow->topology_since,
                after);
}

/* Reads what has changed in the graph, page by page: nodes and edges, then pairs. */
static int read_topology(AldFollow *follow, sd_bus_message_handler_t callback)
{
        follow->topology_since = ald_model_topology(follow->model)->revision;
        follow->topology_pairs = false;
        follow->topology_outdated = false;
        return ask_for_topology(follow, 0, callback);
}

static int ask_for_next_topology(AldFollow *follow, uint64_t next, sd_bus_message_handler_t callback)
{
        if (next != 0)
                return next > follow->topology_after ? ask_for_topology(follow, next, callback)
                                                     : -EBADMSG; /* the pages would never end */
        follow->topology_pairs = true;
        return ask_for_topology(follow, 0, callback);
}

/* Applies a page. Returns 1 if the next page has been requested, and 0 after the last one. */
static int take_topology(AldFollow *follow, sd_bus_message *m, sd_bus_message_handler_t callback)
{
        AldTopology *topology = ald_model_topology(follow->model);
        bool of_pairs = follow->topology_pairs;
        uint64_t next = 0;
        int r;

        follow->topology = sd_bus_slot_unref(follow->topology);
        if (sd_bus_message_is_method_error(m, NULL)) {
                ald_topology_fail(topology, sd_bus_message_get_error(m)->message);
                return -EREMOTEIO;
        }
        r = ald_decode_topology(m, follow->model, of_pairs, follow->topology_after == 0, &next);
        if (r >= 0 && next == 0 && (of_pairs || !topology->with_pairs))
                return 0;
        if (r >= 0)
                r = ask_for_next_topology(follow, next, callback);
        if (r == -ESTALE) {
                ald_topology_forget(topology);
                r = read_topology(follow, callback);
        }
        if (r < 0) {
                ald_topology_fail(topology,
                        r == -EDQUOT ? "it is too large" : "the reply does not match the interface");
                return r;
        }
        return 1;
}

/* Finishes reading even if the graph cannot be read: its model has the reason, and the rest is still worth
 * showing. */
static int on_first_topology(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r = take_topology(follow, m, on_first_topology);

        if (r == -EDQUOT)
                close_too_large(follow);
        else if (r <= 0)
                finish_reading(follow);
        return 0;
}

/* Reading goes on with the findings, since a model without findings would mean that all is well. */
static int on_first_findings(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r;

        if (sd_bus_message_is_method_error(m, NULL)) {
                fail_reading(follow, sd_bus_message_get_error(m));
                return 0;
        }
        r = ald_decode_findings(m, follow->loading);
        if (r < 0) {
                fail_reading_errno(follow, r);
                return 0;
        }
        follow->call = sd_bus_slot_unref(follow->call);
        if (!ald_model_topology(follow->model) || read_topology(follow, on_first_topology) < 0)
                finish_reading(follow);
        return 0;
}

static void read_findings(AldFollow *follow)
{
        follow->findings_outdated = false;
        call_step(follow, ALD_STATE_INTERFACE, "GetFindings", on_first_findings, "", NULL, NULL, 0);
}

static void read_page(AldFollow *follow, const char *cursor);

static int on_page(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        g_autofree char *cursor = NULL;
        int r;

        if (sd_bus_message_is_method_error(m, NULL)) {
                fail_reading(follow, sd_bus_message_get_error(m));
                return 0;
        }
        r = ald_decode_records(m, follow->loading, &cursor);
        if (r >= 0 && ++follow->pages > PAGES_MAX)
                r = -EBADMSG; /* the cursor would never end */
        if (r < 0)
                fail_reading_errno(follow, r);
        else if (cursor[0])
                read_page(follow, cursor);
        else
                read_findings(follow);
        return 0;
}

static void read_page(AldFollow *follow, const char *cursor)
{
        call_step(follow, ALD_STATE_INTERFACE, "GetRecords", on_page, "sst", "", cursor, 0);
}

static void read_descriptions(AldFollow *follow, const char *cursor);

/* Reads a page, and asks for the next one before that, so that the service writes it meanwhile. */
static int take_descriptions(AldFollow *follow, sd_bus_message *m)
{
        g_autofree char *cursor = NULL;
        int r;

        r = ald_decode_descriptions_cursor(m, &cursor);
        if (r >= 0 && ++follow->pages > PAGES_MAX)
                r = -EBADMSG; /* the cursor would never end */
        if (r < 0)
                return r;
        if (cursor[0])
                read_descriptions(follow, cursor);
        if (!follow->loading)
                return 0; /* asking has failed */
        r = ald_decode_descriptions(m, follow->loading);
        if (r >= 0 && !cursor[0])
                read_findings(follow);
        return r;
}

/* Begins anew with structs if the service is older, or a record has keys that this version does not know. */
static int on_descriptions(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r = 0;

        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_UNKNOWN_METHOD))
                r = -EOPNOTSUPP;
        else if (sd_bus_message_is_method_error(m, NULL))
                fail_reading(follow, sd_bus_message_get_error(m));
        else
                r = take_descriptions(follow, m);
        if (r == -EOPNOTSUPP) {
                follow->structs_only = true;
                begin_reading(follow);
        } else if (r < 0)
                fail_reading_errno(follow, r);
        return 0;
}

static void read_descriptions(AldFollow *follow, const char *cursor)
{
        call_step(follow, ALD_STATE_INTERFACE, "DescribeRecords", on_descriptions, "sst", "", cursor,
                cursor[0] ? 0 : FIRST_RECORDS);
}

static int on_managed_objects(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r;

        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_LIMITS_EXCEEDED))
                read_page(follow, "");
        else if (sd_bus_message_is_method_error(m, NULL))
                fail_reading(follow, sd_bus_message_get_error(m));
        else if ((r = ald_decode_managed_objects(m, follow->loading)) < 0)
                fail_reading_errno(follow, r);
        else
                read_findings(follow);
        return 0;
}

/* Returns whether some records have no object. */
static bool has_hidden_records(AldModel *model)
{
        uint64_t hidden = ald_model_totals(model)->hidden;

        return hidden > 0 && hidden != ALD_ABSENT_UINT64;
}

static int on_totals(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r;

        if (sd_bus_message_is_method_error(m, NULL)) {
                fail_reading(follow, sd_bus_message_get_error(m));
                return 0;
        }
        r = ald_decode_totals(m, follow->loading);
        if (r < 0)
                fail_reading_errno(follow, r);
        else if (!follow->structs_only)
                read_descriptions(follow, "");
        else if (has_hidden_records(follow->loading))
                read_page(follow, "");
        else
                call_step(follow, OBJECT_MANAGER, "GetManagedObjects", on_managed_objects, "", NULL, NULL, 0);
        return 0;
}

static void begin_reading(AldFollow *follow)
{
        stop_reading(follow);
        follow->loading = ald_model_new();
        ald_model_limit(follow->loading, ald_model_max(follow->model)); /* the graph stays in the model */
        follow->pages = 0;
        call_step(follow, PROPERTIES, "GetAll", on_totals, "s", ALD_STATE_INTERFACE, NULL, 0);
}

static void send_subscribe(AldFollow *follow);
static void send_mirror(AldFollow *follow);

static gboolean on_resubscribe(void *userdata)
{
        AldFollow *follow = userdata;

        ald_source_clear(&follow->resubscribe);
        send_mirror(follow);
        send_subscribe(follow);
        return G_SOURCE_REMOVE;
}

/* Handles the answer to Subscribe() or Mirror(), which is refused if there are too many subscribers. Reading
 * goes on regardless. */
static void note_request_answer(AldFollow *follow, FollowRequest *request, sd_bus_message *m)
{
        bool refused = sd_bus_message_is_method_error(m, SD_BUS_ERROR_LIMITS_EXCEEDED);
        bool before = request->refused, any_refused;

        request->call = sd_bus_slot_unref(request->call);
        request->refused = refused;
        any_refused = follow->subscription.refused || follow->mirroring.refused;
        if (refused && !follow->resubscribe)
                set_timer(follow, &follow->resubscribe, SUBSCRIBE_MSEC, on_resubscribe);
        if ((refused || (before && !any_refused)) && follow->handler->refused)
                follow->handler->refused(
                        follow, refused ? sd_bus_message_get_error(m) : NULL, follow->userdata);
}

static int on_subscribed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        note_request_answer(follow, &follow->subscription, m);
        return 0;
}

static int on_mirrored(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        note_request_answer(follow, &follow->mirroring, m);
        return 0;
}

static void send_subscribe(AldFollow *follow)
{
        if (!follow->subscribe || !follow->owner)
                return;
        follow->subscription.call = sd_bus_slot_unref(follow->subscription.call);
        (void) call_state(
                follow, &follow->subscription.call, ALD_STATE_INTERFACE, "Subscribe", on_subscribed, "");
}

/* Requests the other nodes if they are mirrored on demand. Nothing waits for the reply. */
static void send_mirror(AldFollow *follow)
{
        g_autoptr(AldMessage) call = NULL;

        if (!follow->mirror || sd_bus_message_new_method_call(follow->bus, &call, ALD_CLUSTER_NAME,
                                       ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE, "Mirror") < 0)
                return;
        follow->mirroring.call = sd_bus_slot_unref(follow->mirroring.call);
        (void) sd_bus_message_set_auto_start(call, false);
        (void) sd_bus_call_async(follow->bus, &follow->mirroring.call, call, on_mirrored, follow, 0);
}

static int match_broadcasts(AldFollow *follow);

static void set_owner(AldFollow *follow, const char *owner)
{
        if (g_strcmp0(owner, follow->owner) == 0)
                return;
        g_free(follow->owner);
        follow->owner = g_strdup(owner);
        follow->structs_only = false;
        if (owner) {
                (void) match_broadcasts(follow);
                send_subscribe(follow);
                begin_reading(follow);
                return;
        }
        stop_reading(follow);
        follow->in_step = false;
        follow->handler->lost(follow, NULL, follow->userdata);
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        const char *name, *old, *new;

        if (g_strcmp0(sd_bus_message_get_sender(m), DRIVER) != 0 ||
                sd_bus_message_read(m, "sss", &name, &old, &new) < 0)
                return 0;
        if (strcmp(name, ALD_STATE_NAME) == 0)
                set_owner(follow, new[0] ? new : NULL);
        else if (strcmp(name, ALD_CLUSTER_NAME) == 0 && new[0])
                send_mirror(follow);
        return 0;
}

static int on_started(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r;

        if (follow->owner)
                return 0; /* NameOwnerChanged came first and reading has begun */
        if (sd_bus_message_is_method_error(m, NULL))
                fail_reading(follow, sd_bus_message_get_error(m));
        else if ((r = ask_for_owner(follow)) < 0)
                fail_reading_errno(follow, r);
        return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        const char *owner;
        int r;

        if (follow->owner)
                return 0;
        if (!sd_bus_message_is_method_error(m, NULL)) {
                if (sd_bus_message_read(m, "s", &owner) >= 0)
                        set_owner(follow, owner);
                return 0;
        }
        follow->call = sd_bus_slot_unref(follow->call);
        r = sd_bus_call_method_async(follow->bus, &follow->call, DRIVER, DRIVER_PATH, DRIVER,
                "StartServiceByName", on_started, follow, "su", ALD_STATE_NAME, 0);
        if (r < 0)
                fail_reading_errno(follow, r);
        return 0;
}

static int ask_for_owner(AldFollow *follow)
{
        follow->call = sd_bus_slot_unref(follow->call);
        return sd_bus_call_method_async(follow->bus, &follow->call, DRIVER, DRIVER_PATH, DRIVER,
                "GetNameOwner", on_owner, follow, "s", ALD_STATE_NAME);
}

/* Checks the sender of a signal. Any client can send us one, but only the owner of the name is trusted. */
static bool is_from_owner(AldFollow *follow, sd_bus_message *m)
{
        return follow->owner && g_strcmp0(sd_bus_message_get_sender(m), follow->owner) == 0;
}

static AldModel *model_for_signals(AldFollow *follow)
{
        return follow->loading ? follow->loading : follow->model;
}

static int on_added(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        if (is_from_owner(follow, m) && ald_decode_interfaces_added(m, model_for_signals(follow)) == -EDQUOT)
                close_too_large(follow);
        return 0;
}

static int on_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        if (is_from_owner(follow, m))
                (void) ald_decode_interfaces_removed(m, model_for_signals(follow));
        return 0;
}

static int on_properties_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r = is_from_owner(follow, m) ? ald_decode_properties_changed(m, model_for_signals(follow)) : 0;

        if (r == -EDQUOT)
                close_too_large(follow);
        else if (r > 0 && follow->in_step && !follow->loading)
                begin_reading(follow);
        return 0;
}

static int on_findings(sd_bus_message *m, void *userdata, sd_bus_error *ret_error);

static void refresh_findings(AldFollow *follow)
{
        g_autoptr(AldMessage) call = NULL;

        follow->findings_outdated = follow->findings != NULL; /* then read them once more */
        if (follow->findings || sd_bus_message_new_method_call(follow->bus, &call, follow->owner,
                                        ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetFindings") < 0)
                return;
        (void) sd_bus_call_async(follow->bus, &follow->findings, call, on_findings, follow, ANSWER_USEC);
}

static int on_findings(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        follow->findings = sd_bus_slot_unref(follow->findings);
        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_NO_REPLY) ||
                sd_bus_message_is_method_error(m, SD_BUS_ERROR_TIMEOUT)) {
                fail_reading(follow, sd_bus_message_get_error(m));
                return 0;
        }
        if (!sd_bus_message_is_method_error(m, NULL) && ald_decode_findings(m, follow->model) == -EDQUOT) {
                close_too_large(follow);
                return 0;
        }
        if (follow->findings_outdated)
                refresh_findings(follow);
        if (follow->handler->findings)
                follow->handler->findings(follow, follow->userdata);
        return 0;
}

static int on_findings_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        if (!is_from_owner(follow, m))
                return 0;
        if (follow->in_step && !follow->loading)
                refresh_findings(follow);
        else
                follow->findings_outdated = true;
        return 0;
}

static int on_topology(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;
        int r = take_topology(follow, m, on_topology);

        if (r == -EDQUOT)
                close_too_large(follow);
        else if (r <= 0 && follow->topology_outdated)
                (void) read_topology(follow, on_topology);
        return 0;
}

static int on_topology_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        if (!is_from_owner(follow, m) || !ald_model_topology(follow->model))
                return 0;
        follow->topology_outdated = true;
        if (follow->in_step && !follow->loading && !follow->topology)
                (void) read_topology(follow, on_topology);
        return 0;
}

/* Reads again what changed while everything was read. */
static void catch_up(AldFollow *follow)
{
        if (!follow->in_step || follow->loading)
                return;
        if (follow->findings_outdated)
                refresh_findings(follow);
        if (follow->topology_outdated && !follow->topology && ald_model_topology(follow->model))
                (void) read_topology(follow, on_topology);
}

bool ald_follow_has_ended(const sd_bus_error *error)
{
        return sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) ||
               sd_bus_error_has_name(error, ALD_FOLLOW_TOO_LARGE);
}

void ald_follow_set_disconnected(AldFollow *follow, const sd_bus_error *error)
{
        if (follow->disconnected)
                return;
        follow->disconnected = true;
        follow->subscription.call = sd_bus_slot_unref(follow->subscription.call);
        follow->mirroring.call = sd_bus_slot_unref(follow->mirroring.call);
        ald_source_clear(&follow->resubscribe);
        g_clear_pointer(&follow->owner, g_free);
        fail_reading(follow, error);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        ald_bus_closed_error(-ECONNRESET, &error);
        ald_follow_set_disconnected(userdata, &error);
        return 0;
}

static const struct {
        const char *rule, *member;
        sd_bus_message_handler_t callback;
} followed[BROADCASTS] = {
        { "type='signal',sender='" ALD_STATE_NAME "',path='" ALD_STATE_PATH "',interface='" OBJECT_MANAGER
          "',member='InterfacesAdded'",
                "InterfacesAdded", on_added },
        { "type='signal',sender='" ALD_STATE_NAME "',path='" ALD_STATE_PATH "',interface='" OBJECT_MANAGER
          "',member='InterfacesRemoved'",
                "InterfacesRemoved", on_removed },
        { "type='signal',sender='" ALD_STATE_NAME "',path_namespace='" ALD_STATE_PATH
          "',interface='" PROPERTIES "',member='PropertiesChanged'",
                "PropertiesChanged", on_properties_changed },
        { "type='signal',sender='" ALD_STATE_NAME "',path='" ALD_STATE_PATH
          "',interface='" ALD_STATE_INTERFACE "',member='FindingsChanged'",
                "FindingsChanged", on_findings_changed },
        { "type='signal',sender='" ALD_STATE_NAME "',path='" ALD_STATE_PATH
          "',interface='" ALD_STATE_INTERFACE "',member='TopologyChanged'",
                "TopologyChanged", on_topology_changed },
};

/* Drops the broadcasts once the service sends signals directly, since it then sends all of them that way. */
static int on_directed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldFollow *follow = userdata;

        if (!sd_bus_message_get_destination(m) || !is_from_owner(follow, m))
                return 0;
        for (size_t i = 0; i < BROADCASTS; i++)
                if (sd_bus_message_is_signal(m, NULL, followed[i].member) > 0) {
                        for (size_t k = 0; k < BROADCASTS; k++)
                                follow->broadcasts[k] = sd_bus_slot_unref(follow->broadcasts[k]);
                        (void) followed[i].callback(m, follow, ret_error);
                        return 1;
                }
        return 0;
}

static int match_broadcasts(AldFollow *follow)
{
        for (size_t i = 0; i < BROADCASTS; i++) {
                int r = follow->broadcasts[i] ? 0
                                              : sd_bus_add_match_async(follow->bus, &follow->broadcasts[i],
                                                        followed[i].rule, followed[i].callback, NULL, follow);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_matches(AldFollow *follow)
{
        static const struct {
                const char *rule;
                sd_bus_message_handler_t callback;
        } matches[G_N_ELEMENTS(((AldFollow *) NULL)->matches)] = {
                { "type='signal',sender='" DRIVER "',path='" DRIVER_PATH "',interface='" DRIVER
                  "',member='NameOwnerChanged',arg0='" ALD_STATE_NAME "'",
                        on_owner_changed },
                { "type='signal',sender='" DRIVER "',path='" DRIVER_PATH "',interface='" DRIVER
                  "',member='NameOwnerChanged',arg0='" ALD_CLUSTER_NAME "'",
                        on_owner_changed },
                { "type='signal',sender='" LOCAL "',interface='" LOCAL "',member='Disconnected'",
                        on_disconnected },
        };
        int r = sd_bus_add_filter(follow->bus, &follow->directed, on_directed, follow);

        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(matches); i++)
                r = sd_bus_add_match_async(
                        follow->bus, &follow->matches[i], matches[i].rule, matches[i].callback, NULL, follow);
        return r < 0 ? r : match_broadcasts(follow);
}

int ald_follow_new(
        sd_bus *bus, AldModel *model, const AldFollowHandler *handler, void *userdata, AldFollow **ret)
{
        g_autoptr(AldFollow) follow = g_new0(AldFollow, 1);
        int r;

        follow->bus = sd_bus_ref(bus);
        follow->context = g_main_context_ref_thread_default();
        follow->model = model;
        follow->handler = handler;
        follow->userdata = userdata;
        r = add_matches(follow);
        if (r >= 0)
                r = ask_for_owner(follow);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&follow);
        return 0;
}

void ald_follow_free(AldFollow *follow)
{
        if (!follow)
                return;
        stop_reading(follow);
        for (size_t i = 0; i < G_N_ELEMENTS(follow->matches); i++)
                sd_bus_slot_unref(follow->matches[i]);
        for (size_t i = 0; i < BROADCASTS; i++)
                sd_bus_slot_unref(follow->broadcasts[i]);
        sd_bus_slot_unref(follow->directed);
        sd_bus_slot_unref(follow->subscription.call);
        sd_bus_slot_unref(follow->mirroring.call);
        ald_source_clear(&follow->resubscribe);
        g_free(follow->owner);
        g_main_context_unref(follow->context);
        sd_bus_unref(follow->bus);
        g_free(follow);
}

void ald_follow_subscribe(AldFollow *follow, bool mirror_too)
{
        follow->subscribe = true;
        follow->mirror |= mirror_too;
        if (follow->disconnected)
                return;
        send_mirror(follow);
        send_subscribe(follow);
}

bool ald_follow_in_step(AldFollow *follow)
{
        return follow->in_step;
}

void ald_follow_refresh(AldFollow *follow)
{
        const AldTopology *topology = ald_model_topology(follow->model);

        if (!follow->in_step || follow->loading)
                return;
        /* A graph that was read is read again only when it changes. */
        if (topology && topology->failure && !follow->topology)
                (void) read_topology(follow, on_topology);
        if (has_hidden_records(follow->model) && g_get_monotonic_time() - follow->read_at >= REREAD_USEC)
                begin_reading(follow);
        else
                refresh_findings(follow);
}
