/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/state/sources-bus.h"
#include "record/record-bus.h"
#include "record/record-source.h"
#include "services/common/peer.h"
#include "services/state/probed.h"

/* A source that is gone is asked for after 1 s, then 2 s and so on; one that lived long, at once again. */
#define RETRY_MIN_SECONDS 1u
#define RETRY_MAX_SECONDS 60u
/* Longer than a restart of the service takes. */
#define POLICY_SECONDS 10u
#define LIVED_LONG_USEC (60 * G_USEC_PER_SEC)

typedef struct Source Source;

/* One record of a source. */
typedef struct Feed {
        Source *source;
        AldKind kind;
        AldRecord *seen;      /* as this owner of the name last sent it; NULL before its first */
        sd_bus_slot *reading; /* GetAll() under way; signals before its reply are in the reply */
        bool bad;             /* the last was not understood, which was logged */
} Feed;

struct Source {
        const AldRecordSource *info;
        AldService *service;
        AldStateManager *manager;
        AldPeer *peer;
        Feed feeds[ALD_N_KINDS];
        gint64 appeared; /* CLOCK_MONOTONIC in µs */
        unsigned retry_seconds;
        guint retry;
        guint replace_policy;
        bool starting; /* asked of a name without owner, so that the bus starts its service */
};

struct AldSources {
        Source sources[ALD_N_RECORD_SOURCES];
};

/* The store numbers the record anew in its envelope; as a base for the next change only the fields count. */
static void take(Feed *feed, AldRecord *record)
{
        g_clear_pointer(&feed->seen, ald_record_unref);
        feed->seen = record;
        if (ald_probed_kind(feed->kind))
                ald_probed_take(feed->source->manager, record);
        else
                ald_state_manager_put_local(feed->source->manager, feed->kind, "", record);
}

/* The first of a row is logged. What comes next is read as a whole, since part of it was missed. */
static void warn_once(Feed *feed, const char *field, int error)
{
        if (!feed->bad)
                g_warning("%s sent an invalid %s: %s%s%s", feed->source->info->name,
                        ald_kinds[feed->kind].interface, field ? field : "", field ? ": " : "",
                        g_strerror(-error));
        feed->bad = true;
        g_clear_pointer(&feed->seen, ald_record_unref);
}

static void take_message(Feed *feed, sd_bus_message *message, const AldRecord *base)
{
        const char *field = NULL;
        AldRecord *record;
        int r;

        r = ald_record_bus_read(message, feed->kind, base, &record, &field);
        if (r < 0) {
                warn_once(feed, field, r);
                return;
        }
        feed->bad = false;
        take(feed, record);
}

static void retry_later(Source *source);

static int on_all(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Feed *feed = userdata;

        feed->reading = sd_bus_slot_unref(feed->reading);
        /* No such interface: nothing was measured yet, and there will be a signal when something is. */
        if (!sd_bus_message_is_method_error(reply, NULL))
                take_message(feed, reply, NULL);
        else if (feed->source->starting)
                retry_later(feed->source);
        return 0;
}

/* Sent to the unique name, so that a source that has exited meanwhile is not started again. */
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
                take_message(feed, message, feed->seen);
        else
                read_all(feed);
        return 0;
}

/* Asking anything of a name that has no owner has the bus start its service. */
static gboolean on_retry(gpointer userdata)
{
        Source *source = userdata;

        source->retry = 0;
        source->starting = true;
        if (read_all(&source->feeds[0]) < 0)
                retry_later(source);
        return G_SOURCE_REMOVE;
}

static void retry_later(Source *source)
{
        source->starting = false;
        g_clear_handle_id(&source->retry, g_source_remove);
        source->retry = g_timeout_add_seconds(source->retry_seconds, on_retry, source);
        source->retry_seconds = CLAMP(source->retry_seconds * 2, RETRY_MIN_SECONDS, RETRY_MAX_SECONDS);
}

static bool has_policy(const Source *source)
{
        for (unsigned i = 0; i < source->info->n_kinds; i++)
                if (source->info->kinds[i] == ALD_KIND_PROBE_POLICY)
                        return true;
        return false;
}

/* A service that is not running cannot publish this. Its peers measure instead: that fails, and they report
 * it. */
static gboolean on_no_policy(gpointer userdata)
{
        Source *source = userdata;
        AldProbePolicy policy = ALD_PROBE_POLICY_INIT;
        g_autoptr(AldRecord) record = NULL;

        /* Other nodes do not know a node without any record. */
        if (!ald_node_after(ald_store_local_node(ald_state_manager_store(source->manager)), NULL))
                return G_SOURCE_CONTINUE;
        source->replace_policy = 0;
        policy.links = ald_probe_policy_links_to_string(ALD_PROBE_POLICY_LINKS_ROUND_TRIPS);
        policy.reason = "unable: alidade-link-probed is not running";
        if (ald_record_new(ALD_KIND_PROBE_POLICY, &policy, &record) >= 0) {
                record->updated_usec = ald_realtime_usec();
                ald_state_manager_put_local(source->manager, ALD_KIND_PROBE_POLICY, "", record);
        }
        return G_SOURCE_REMOVE;
}

static void source_appeared(Source *source)
{
        source->appeared = g_get_monotonic_time();
        source->starting = false;
        g_clear_handle_id(&source->retry, g_source_remove);
        g_clear_handle_id(&source->replace_policy, g_source_remove);
        for (unsigned i = 0; i < source->info->n_kinds; i++) {
                g_clear_pointer(&source->feeds[i].seen, ald_record_unref);
                read_all(&source->feeds[i]);
        }
}

static void source_gone(Source *source)
{
        if (source->appeared != 0 && g_get_monotonic_time() - source->appeared > LIVED_LONG_USEC)
                source->retry_seconds = 0;
        if (source->appeared != 0)
                g_message("%s left the bus; its records are kept, with their age", source->info->name);
        if (!source->info->optional)
                retry_later(source);
        if (has_policy(source) && source->replace_policy == 0)
                source->replace_policy = g_timeout_add_seconds(POLICY_SECONDS, on_no_policy, source);
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
        int r;

        source->info = info;
        source->service = service;
        source->manager = manager;
        for (unsigned i = 0; i < info->n_kinds; i++) {
                source->feeds[i].source = source;
                source->feeds[i].kind = info->kinds[i];
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
        g_clear_handle_id(&source->retry, g_source_remove);
        g_clear_handle_id(&source->replace_policy, g_source_remove);
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
