/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/state/sources-bus.h"
#include "record/record-bus.h"
#include "record/record-source.h"
#include "services/common/back-off.h"
#include "services/common/peer.h"
#include "services/state/missing-policy.h"
#include "services/state/probed.h"

typedef struct Source Source;

/* One record of a source. */
typedef struct Feed {
        Source *source;
        AldKind kind;
        AldRecord *seen;      /* as this owner of the name last sent it; NULL before its first */
        sd_bus_slot *reading; /* GetAll() in progress; its reply includes the signals before it */
        bool error_logged;    /* the last record was invalid, which was logged */
} Feed;

struct Source {
        const AldRecordSource *info;
        AldService *service;
        AldStateManager *manager;
        AldPeer *peer;
        Feed feeds[ALD_N_KINDS];
        AldBackOff *retry;
        AldMissingPolicy *missing_policy; /* NULL unless this source publishes the policy */
        bool was_on_bus;                  /* the service has been on the bus */
        bool starting; /* a name without owner was called, so that the bus starts its service */
};

struct AldSources {
        Source sources[ALD_N_RECORD_SOURCES];
};

/* Applies a record. The store gives it a new number in its envelope; as the base for the next change only the
 * fields matter. */
static void apply_record(Feed *feed, AldRecord *record)
{
        g_clear_pointer(&feed->seen, ald_record_unref);
        feed->seen = record;
        if (ald_probed_kind(feed->kind))
                ald_probed_merge(feed->source->manager, record);
        else
                ald_state_manager_put_local(feed->source->manager, feed->kind, "", record);
}

/* Logs the first of consecutive errors. The next record is read as a whole, since part of it was missed. */
static void warn_once(Feed *feed, const char *field, int error)
{
        if (!feed->error_logged)
                g_warning("%s sent an invalid %s: %s%s%s", feed->source->info->name,
                        ald_kinds[feed->kind].interface, field ? field : "", field ? ": " : "",
                        g_strerror(-error));
        feed->error_logged = true;
        g_clear_pointer(&feed->seen, ald_record_unref);
}

static void apply_message(Feed *feed, sd_bus_message *message, const AldRecord *base)
{
        const char *field = NULL;
        AldRecord *record;
        int r;

        r = ald_record_bus_read(message, feed->kind, base, &record, &field);
        if (r < 0) {
                warn_once(feed, field, r);
                return;
        }
        feed->error_logged = false;
        apply_record(feed, record);
}

static void retry_later(Source *source)
{
        source->starting = false;
        ald_back_off_failed(source->retry);
}

static int on_all(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Feed *feed = userdata;

        feed->reading = sd_bus_slot_unref(feed->reading);
        /* An error means that there is no such interface, since nothing was measured yet; there will be a
         * signal when something is. */
        if (!sd_bus_message_is_method_error(reply, NULL))
                apply_message(feed, reply, NULL);
        else if (feed->source->starting)
                retry_later(feed->source);
        return 0;
}

/* Reads the whole record. The call goes to the unique name, so that a source that has exited meanwhile is not
 * started again. */
static int read_all(Feed *feed)
{
        const AldRecordSource *info = feed->source->info;
        const char *owner = ald_peer_owner(feed->source->peer);
        int r;

        feed->reading = sd_bus_slot_unref(feed->reading);
        r = sd_bus_call_method_async(ald_service_bus(feed->source->service), &feed->reading,
                owner ?: info->name, info->path, "org.freedesktop.DBus.Properties", "GetAll", on_all, feed,
                "s", ald_kinds[feed->kind].interface);
        if (r < 0)
                g_warning("Failed to call %s: %s", info->name, g_strerror(-r));
        return r;
}

static Feed *find_feed(Source *source, const char *interface)
{
        for (unsigned i = 0; i < source->info->n_kinds; i++)
                if (g_str_equal(ald_kinds[source->feeds[i].kind].interface, interface))
                        return &source->feeds[i];
        return NULL;
}

static int on_properties_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        Source *source = userdata;
        const char *interface;
        Feed *feed;
        int r;

        r = sd_bus_message_read(message, "s", &interface);
        if (r < 0)
                return r;
        feed = find_feed(source, interface);
        if (!feed || feed->reading)
                return 0;
        /* A change is useful only with the complete record. */
        if (feed->seen)
                apply_message(feed, message, feed->seen);
        else
                read_all(feed);
        return 0;
}

/* A call to a name without owner makes the bus start its service. */
static void on_retry(void *userdata)
{
        Source *source = userdata;

        source->starting = true;
        if (read_all(&source->feeds[0]) < 0)
                retry_later(source);
}

static void source_appeared(Source *source)
{
        source->was_on_bus = true;
        source->starting = false;
        ald_back_off_works(source->retry);
        if (source->missing_policy)
                ald_missing_policy_end(source->missing_policy);
        for (unsigned i = 0; i < source->info->n_kinds; i++) {
                g_clear_pointer(&source->feeds[i].seen, ald_record_unref);
                read_all(&source->feeds[i]);
        }
}

static void source_gone(Source *source)
{
        if (source->was_on_bus)
                g_message("%s left the bus; its records are kept, with their age", source->info->name);
        if (!source->info->optional)
                retry_later(source);
        if (source->missing_policy)
                ald_missing_policy_begin(source->missing_policy);
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        if (owner)
                source_appeared(userdata);
        else
                source_gone(userdata);
}

static int source_start(
        Source *source, AldService *service, AldStateManager *manager, const AldRecordSource *info)
{
        /* A service that ran for long is started again at once. */
        static const AldBackOffDelays delays = { 0, G_USEC_PER_SEC, 60 * G_USEC_PER_SEC };
        int r;

        source->info = info;
        source->service = service;
        source->manager = manager;
        source->retry = ald_back_off_new("source", &delays, on_retry, source);
        for (unsigned i = 0; i < info->n_kinds; i++) {
                source->feeds[i].source = source;
                source->feeds[i].kind = info->kinds[i];
                if (info->kinds[i] == ALD_KIND_PROBE_POLICY)
                        source->missing_policy = ald_missing_policy_new(manager);
        }
        r = ald_peer_new(service, ald_service_bus(service), info->name, on_owner, source, &source->peer);
        if (r < 0)
                return r;
        return ald_peer_match_signal(source->peer, info->path, "org.freedesktop.DBus.Properties",
                "PropertiesChanged", NULL, on_properties_changed);
}

int ald_sources_new(AldService *service, AldStateManager *manager, AldSources **ret)
{
        g_autoptr(AldSources) sources = g_new0(AldSources, 1);

        for (unsigned i = 0; i < ALD_N_RECORD_SOURCES; i++) {
                int r = source_start(&sources->sources[i], service, manager, &ald_record_sources[i]);
                if (r < 0)
                        return r;
        }
        *ret = g_steal_pointer(&sources);
        return 0;
}

static void source_clear(Source *source)
{
        ald_back_off_free(source->retry);
        ald_missing_policy_free(source->missing_policy);
        ald_peer_free(source->peer);
        for (unsigned i = 0; i < G_N_ELEMENTS(source->feeds); i++) {
                sd_bus_slot_unref(source->feeds[i].reading);
                g_clear_pointer(&source->feeds[i].seen, ald_record_unref);
        }
}

void ald_sources_free(AldSources *sources)
{
        if (!sources)
                return;
        for (unsigned i = 0; i < G_N_ELEMENTS(sources->sources); i++)
                source_clear(&sources->sources[i]);
        g_free(sources);
}
