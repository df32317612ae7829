/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/decode.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/sync.h"

#define DRIVER "org.freedesktop.DBus"
#define DRIVER_PATH "/org/freedesktop/DBus"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"
#define LOCAL "org.freedesktop.DBus.Local"

#define USEC_PER_SEC UINT64_C(1000000)
#define RETRY_USEC (3 * USEC_PER_SEC)      /* after a failed read */
#define REREAD_USEC (30 * USEC_PER_SEC)    /* where signals do not cover all; records are resent that often */
#define SUBSCRIBE_USEC (10 * USEC_PER_SEC) /* after Subscribe() or Mirror() was refused */
#define PAGES_MAX 100000u

#define BROADCASTS 3u /* kinds of signals that are followed */

struct AldSync {
        sd_bus *bus;
        sd_event *event;
        AldModel *model;
        const AldSyncHandler *handler;
        void *userdata;

        char *owner;           /* unique name of the service, or NULL */
        AldModel *loading;     /* what is being read; signals go there until it replaces the model */
        sd_bus_slot *call;     /* the one call under way that leads to the next step of reading */
        sd_bus_slot *findings; /* GetFindings() apart from that */
        sd_event_source *retry;
        sd_bus_slot *matches[3], *directed;
        sd_bus_slot *broadcasts[BROADCASTS]; /* not there once the service sends its signals to us alone */
        sd_bus_slot *subscription, *mirroring;
        sd_event_source *resubscribe;
        unsigned pages;
        uint64_t read_at; /* CLOCK_MONOTONIC */
        bool in_step, subscribe, refused;
};

static void begin_reading(AldSync *sync);
static void ask_for_owner(AldSync *sync);

/* Ends what is being read. */
static void stop_reading(AldSync *sync)
{
        sync->call = sd_bus_slot_unref(sync->call);
        sync->findings = sd_bus_slot_unref(sync->findings);
        sync->retry = sd_event_source_disable_unref(sync->retry);
        g_clear_pointer(&sync->loading, ald_model_free);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
        AldSync *sync = userdata;

        sync->retry = sd_event_source_disable_unref(sync->retry);
        begin_reading(sync);
        return 0;
}

static void fail(AldSync *sync, const sd_bus_error *error)
{
        stop_reading(sync);
        sync->in_step = false;
        if (sync->owner)
                (void) sd_event_add_time_relative(
                        sync->event, &sync->retry, CLOCK_MONOTONIC, RETRY_USEC, 0, on_retry, sync);
        sync->handler->lost(sync, error, sync->userdata);
}

static void fail_errno(AldSync *sync, int r)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (r == -EBADMSG || r == -ENXIO)
                (void) sd_bus_error_set(&error, SD_BUS_ERROR_INCONSISTENT_MESSAGE,
                        "the reply is not what the interface promises");
        else
                (void) sd_bus_error_set_errno(&error, r);
        fail(sync, &error);
}

/* Calls the state service by its unique name, so that the answer comes from the one whose signals we follow.
 */
static int call_state(AldSync *sync, sd_bus_slot **slot, const char *interface, const char *method,
        sd_bus_message_handler_t callback, const char *types, ...)
{
        va_list list;
        int r;

        va_start(list, types);
        r = sd_bus_call_method_asyncv(
                sync->bus, slot, sync->owner, ALD_STATE_PATH, interface, method, callback, sync, types, list);
        va_end(list);
        return r;
}

static void step(AldSync *sync, const char *interface, const char *method, sd_bus_message_handler_t callback,
        const char *types, const char *a, const char *b)
{
        int r;

        sync->call = sd_bus_slot_unref(sync->call);
        r = call_state(sync, &sync->call, interface, method, callback, types, a, b, UINT64_C(0));
        if (r < 0)
                fail_errno(sync, r);
}

static void finish_reading(AldSync *sync)
{
        g_autoptr(AldModel) loaded = g_steal_pointer(&sync->loading);

        stop_reading(sync);
        sync->in_step = true;
        (void) sd_event_now(sync->event, CLOCK_MONOTONIC, &sync->read_at);
        ald_model_replace(sync->model, loaded);
        sync->handler->synced(sync, sync->userdata);
}

/* Findings are an extra: without them the rest is still worth showing. */
static int on_first_findings(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        if (!sd_bus_message_is_method_error(m, NULL))
                (void) ald_decode_findings(m, sync->loading);
        finish_reading(sync);
        return 0;
}

static void read_findings(AldSync *sync)
{
        step(sync, ALD_STATE_INTERFACE, "GetFindings", on_first_findings, "", NULL, NULL);
}

static void read_page(AldSync *sync, const char *cursor);

static int on_page(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;
        g_autofree char *cursor = NULL;
        int r;

        if (sd_bus_message_is_method_error(m, NULL)) {
                fail(sync, sd_bus_message_get_error(m));
                return 0;
        }
        r = ald_decode_records(m, sync->loading, &cursor);
        if (r >= 0 && ++sync->pages > PAGES_MAX)
                r = -EBADMSG; /* a cursor that never ends */
        if (r < 0)
                fail_errno(sync, r);
        else if (cursor[0])
                read_page(sync, cursor);
        else
                read_findings(sync);
        return 0;
}

static void read_page(AldSync *sync, const char *cursor)
{
        step(sync, ALD_STATE_INTERFACE, "GetRecords", on_page, "sst", "", cursor);
}

static int on_managed_objects(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;
        int r;

        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_LIMITS_EXCEEDED))
                read_page(sync, "");
        else if (sd_bus_message_is_method_error(m, NULL))
                fail(sync, sd_bus_message_get_error(m));
        else if ((r = ald_decode_managed_objects(m, sync->loading)) < 0)
                fail_errno(sync, r);
        else
                read_findings(sync);
        return 0;
}

/* Whether there is more than the objects show. */
static bool has_hidden(AldModel *model)
{
        return ald_field_number(ald_model_totals(model), "Hidden") > 0;
}

static int on_totals(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;
        int r;

        if (sd_bus_message_is_method_error(m, NULL)) {
                fail(sync, sd_bus_message_get_error(m));
                return 0;
        }
        r = ald_decode_totals(m, sync->loading);
        if (r < 0)
                fail_errno(sync, r);
        else if (has_hidden(sync->loading))
                read_page(sync, "");
        else
                step(sync, OBJECT_MANAGER, "GetManagedObjects", on_managed_objects, "", NULL, NULL);
        return 0;
}

static void begin_reading(AldSync *sync)
{
        stop_reading(sync);
        sync->loading = ald_model_new();
        sync->pages = 0;
        step(sync, PROPERTIES, "GetAll", on_totals, "s", ALD_STATE_INTERFACE, NULL);
}

static void subscribe(AldSync *sync);
static void mirror(AldSync *sync);

static int on_resubscribe(sd_event_source *source, uint64_t usec, void *userdata)
{
        AldSync *sync = userdata;

        sync->resubscribe = sd_event_source_disable_unref(sync->resubscribe);
        mirror(sync);
        subscribe(sync);
        return 0;
}

/* Too many others have asked for the same. The rest goes on meanwhile. */
static void note_refusal(AldSync *sync, sd_bus_message *m)
{
        bool refused = sd_bus_message_is_method_error(m, SD_BUS_ERROR_LIMITS_EXCEEDED);

        if (refused && !sync->resubscribe)
                (void) sd_event_add_time_relative(sync->event, &sync->resubscribe, CLOCK_MONOTONIC,
                        SUBSCRIBE_USEC, 0, on_resubscribe, sync);
        if ((refused || (sync->refused && !sync->resubscribe)) && sync->handler->refused)
                sync->handler->refused(sync, refused ? sd_bus_message_get_error(m) : NULL, sync->userdata);
        sync->refused = sync->resubscribe;
}

static int on_subscribed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        sync->subscription = sd_bus_slot_unref(sync->subscription);
        note_refusal(sync, m);
        return 0;
}

static int on_mirrored(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        sync->mirroring = sd_bus_slot_unref(sync->mirroring);
        note_refusal(sync, m);
        return 0;
}

static void subscribe(AldSync *sync)
{
        if (!sync->subscribe || !sync->owner)
                return;
        sync->subscription = sd_bus_slot_unref(sync->subscription);
        (void) call_state(sync, &sync->subscription, ALD_STATE_INTERFACE, "Subscribe", on_subscribed, "");
}

/* Where other nodes are mirrored on demand, this is the demand. Nobody waits for it. */
static void mirror(AldSync *sync)
{
        g_autoptr(sd_bus_message) call = NULL;

        if (!sync->subscribe || sd_bus_message_new_method_call(sync->bus, &call, ALD_CLUSTER_NAME,
                                        ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE, "Mirror") < 0)
                return;
        sync->mirroring = sd_bus_slot_unref(sync->mirroring);
        (void) sd_bus_message_set_auto_start(call, false);
        (void) sd_bus_call_async(sync->bus, &sync->mirroring, call, on_mirrored, sync, 0);
}

static int match_broadcasts(AldSync *sync);

static void set_owner(AldSync *sync, const char *owner)
{
        if (g_strcmp0(owner, sync->owner) == 0)
                return;
        g_free(sync->owner);
        sync->owner = g_strdup(owner);
        if (owner) {
                (void) match_broadcasts(sync);
                subscribe(sync);
                begin_reading(sync);
                return;
        }
        stop_reading(sync);
        sync->in_step = false;
        sync->handler->lost(sync, NULL, sync->userdata);
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;
        const char *name, *old, *new;

        if (g_strcmp0(sd_bus_message_get_sender(m), DRIVER) != 0 ||
                sd_bus_message_read(m, "sss", &name, &old, &new) < 0)
                return 0;
        if (strcmp(name, ALD_STATE_NAME) == 0)
                set_owner(sync, new[0] ? new : NULL);
        else if (strcmp(name, ALD_CLUSTER_NAME) == 0 && new[0])
                mirror(sync);
        return 0;
}

static int on_started(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        if (sync->owner)
                return 0; /* NameOwnerChanged came first and reading has begun */
        if (sd_bus_message_is_method_error(m, NULL))
                fail(sync, sd_bus_message_get_error(m));
        else
                ask_for_owner(sync);
        return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;
        const char *owner;
        int r;

        if (sync->owner)
                return 0;
        if (!sd_bus_message_is_method_error(m, NULL)) {
                if (sd_bus_message_read(m, "s", &owner) >= 0)
                        set_owner(sync, owner);
                return 0;
        }
        sync->call = sd_bus_slot_unref(sync->call);
        r = sd_bus_call_method_async(sync->bus, &sync->call, DRIVER, DRIVER_PATH, DRIVER,
                "StartServiceByName", on_started, sync, "su", ALD_STATE_NAME, 0);
        if (r < 0)
                fail_errno(sync, r);
        return 0;
}

static void ask_for_owner(AldSync *sync)
{
        int r;

        sync->call = sd_bus_slot_unref(sync->call);
        r = sd_bus_call_method_async(sync->bus, &sync->call, DRIVER, DRIVER_PATH, DRIVER, "GetNameOwner",
                on_owner, sync, "s", ALD_STATE_NAME);
        if (r < 0)
                fail_errno(sync, r);
}

/* Anybody may send us a signal that looks right; only the owner of the name is believed. */
static bool is_from_owner(AldSync *sync, sd_bus_message *m)
{
        return sync->owner && g_strcmp0(sd_bus_message_get_sender(m), sync->owner) == 0;
}

static AldModel *model_for_signals(AldSync *sync)
{
        return sync->loading ? sync->loading : sync->model;
}

static int on_added(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        if (is_from_owner(sync, m))
                (void) ald_decode_interfaces_added(m, model_for_signals(sync));
        return 0;
}

static int on_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        if (is_from_owner(sync, m))
                (void) ald_decode_interfaces_removed(m, model_for_signals(sync));
        return 0;
}

static int on_properties_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        if (is_from_owner(sync, m) && ald_decode_properties_changed(m, model_for_signals(sync)) > 0 &&
                sync->in_step && !sync->loading)
                begin_reading(sync);
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        g_clear_pointer(&sync->owner, g_free);
        fail(sync, &SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_DISCONNECTED, "the bus closed the connection"));
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
};

/* A service that sends us its signals sends us all of them, so what it broadcasts need not come twice. */
static int on_directed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        if (!sd_bus_message_get_destination(m) || !is_from_owner(sync, m))
                return 0;
        for (size_t i = 0; i < BROADCASTS; i++)
                if (sd_bus_message_is_signal(m, NULL, followed[i].member) > 0) {
                        for (size_t k = 0; k < BROADCASTS; k++)
                                sync->broadcasts[k] = sd_bus_slot_unref(sync->broadcasts[k]);
                        (void) followed[i].callback(m, sync, ret_error);
                        return 1;
                }
        return 0;
}

static int match_broadcasts(AldSync *sync)
{
        for (size_t i = 0; i < BROADCASTS; i++) {
                int r = sync->broadcasts[i] ? 0
                                            : sd_bus_add_match_async(sync->bus, &sync->broadcasts[i],
                                                      followed[i].rule, followed[i].callback, NULL, sync);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_matches(AldSync *sync)
{
        static const struct {
                const char *rule;
                sd_bus_message_handler_t callback;
        } matches[G_N_ELEMENTS(((AldSync *) NULL)->matches)] = {
                { "type='signal',sender='" DRIVER "',path='" DRIVER_PATH "',interface='" DRIVER
                  "',member='NameOwnerChanged',arg0='" ALD_STATE_NAME "'",
                        on_owner_changed },
                { "type='signal',sender='" DRIVER "',path='" DRIVER_PATH "',interface='" DRIVER
                  "',member='NameOwnerChanged',arg0='" ALD_CLUSTER_NAME "'",
                        on_owner_changed },
                { "type='signal',sender='" LOCAL "',interface='" LOCAL "',member='Disconnected'",
                        on_disconnected },
        };
        int r = sd_bus_add_filter(sync->bus, &sync->directed, on_directed, sync);

        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(matches); i++)
                r = sd_bus_add_match_async(
                        sync->bus, &sync->matches[i], matches[i].rule, matches[i].callback, NULL, sync);
        return r < 0 ? r : match_broadcasts(sync);
}

int ald_sync_new(sd_bus *bus, AldModel *model, const AldSyncHandler *handler, void *userdata, AldSync **ret)
{
        g_autoptr(AldSync) sync = g_new0(AldSync, 1);
        int r;

        sync->bus = sd_bus_ref(bus);
        sync->event = sd_event_ref(sd_bus_get_event(bus));
        sync->model = model;
        sync->handler = handler;
        sync->userdata = userdata;
        r = add_matches(sync);
        if (r < 0)
                return r;
        ask_for_owner(sync);
        *ret = g_steal_pointer(&sync);
        return 0;
}

void ald_sync_free(AldSync *sync)
{
        if (!sync)
                return;
        stop_reading(sync);
        for (size_t i = 0; i < G_N_ELEMENTS(sync->matches); i++)
                sd_bus_slot_unref(sync->matches[i]);
        for (size_t i = 0; i < BROADCASTS; i++)
                sd_bus_slot_unref(sync->broadcasts[i]);
        sd_bus_slot_unref(sync->directed);
        sd_bus_slot_unref(sync->subscription);
        sd_bus_slot_unref(sync->mirroring);
        sd_event_source_disable_unref(sync->resubscribe);
        g_free(sync->owner);
        sd_event_unref(sync->event);
        sd_bus_unref(sync->bus);
        g_free(sync);
}

void ald_sync_subscribe(AldSync *sync)
{
        sync->subscribe = true;
        mirror(sync);
        subscribe(sync);
}

bool ald_sync_in_step(AldSync *sync)
{
        return sync->in_step;
}

static int on_findings(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldSync *sync = userdata;

        sync->findings = sd_bus_slot_unref(sync->findings);
        if (!sd_bus_message_is_method_error(m, NULL))
                (void) ald_decode_findings(m, sync->model);
        return 0;
}

void ald_sync_refresh(AldSync *sync)
{
        uint64_t now;

        if (!sync->in_step || sync->loading)
                return;
        (void) sd_event_now(sync->event, CLOCK_MONOTONIC, &now);
        if (has_hidden(sync->model) && now - sync->read_at >= REREAD_USEC)
                begin_reading(sync);
        else if (!sync->findings)
                (void) call_state(sync, &sync->findings, ALD_STATE_INTERFACE, "GetFindings", on_findings, "");
}
