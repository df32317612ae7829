/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record-bus.h"
#include "services/common/peer.h"
#include "services/state/link-source-bus.h"
#include "services/state/probed.h"
#include "state/results/link-result.h"

#define LINK_PROBE_NAME "org.alidade.LinkProbe1"
#define LINK_PROBE_PATH "/org/alidade/LinkProbe1"
#define LINK_PREFIX LINK_PROBE_PATH "/link/"

/* This is also the maximum number of links of this node. */
#define OBJECTS_MAX 4096u

struct AldLinkSource {
        AldService *service;
        AldStateManager *manager;
        AldPeer *peer;
        GHashTable *seen;     /* path → AldRecord, as this owner of the name last sent it */
        sd_bus_slot *reading; /* GetManagedObjects() in progress */
        bool error_logged;    /* the last object was invalid, which was logged */
};

static void warn_once(AldLinkSource *source, const char *path, const char *field, int error)
{
        if (!source->error_logged)
                g_warning("%s sent an invalid %s: %s%s%s", LINK_PROBE_NAME, path, field ? field : "",
                        field ? ": " : "", g_strerror(-error));
        source->error_logged = true;
}

/* Applies a record, unless it was resent unchanged: such a record must not restore a row that was deleted
 * meanwhile. */
static void apply_record(AldLinkSource *source, const char *path, AldRecord *record)
{
        AldRecord *before = g_hash_table_lookup(source->seen, path);
        bool same = before && before->hash == record->hash;

        source->error_logged = false;
        if (!before && g_hash_table_size(source->seen) >= OBJECTS_MAX) {
                warn_once(source, path, NULL, -E2BIG);
                return;
        }
        g_hash_table_insert(source->seen, g_strdup(path), ald_record_ref(record));
        if (!same)
                ald_probed_merge(source->manager, record);
}

/* Reads a record. Returns only errors of the message itself; a bad record is skipped. */
static int read_record(AldLinkSource *source, sd_bus_message *message, const char *path, AldKind kind)
{
        g_autoptr(AldRecord) record = NULL;
        const char *field = NULL;
        int r;

        r = ald_record_bus_read(message, kind, NULL, &record, &field);
        if (r >= 0) {
                apply_record(source, path, record);
                return 0;
        }
        warn_once(source, path, field, r);
        g_hash_table_remove(source->seen, path);
        return field || r == -E2BIG ? 0 : r;
}

/* Returns the kind of the link that the object is, or -ENOENT. */
static int kind_of_link(const char *path, const char *interface)
{
        int kind = ald_kind_from_interface(interface);

        return kind >= 0 && ald_kinds[kind].is_link && g_str_has_prefix(path, LINK_PREFIX) ? kind : -ENOENT;
}

/* Reads one interface of one object: the sender's pair of name and properties, of which the name was read. */
static int read_interface(
        AldLinkSource *source, sd_bus_message *message, const char *path, const char *interface)
{
        int kind = kind_of_link(path, interface);

        return kind < 0 ? sd_bus_message_skip(message, "a{sv}")
                        : read_record(source, message, path, (AldKind) kind);
}

/* Reads a{sa{sv}}, the interfaces of one object. */
static int read_interfaces(AldLinkSource *source, sd_bus_message *message, const char *path)
{
        const char *interface;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sa{sv}}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sa{sv}")) > 0) {
                r = sd_bus_message_read(message, "s", &interface);
                if (r >= 0)
                        r = read_interface(source, message, path, interface);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_objects(AldLinkSource *source, sd_bus_message *message)
{
        const char *path;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{oa{sa{sv}}}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "oa{sa{sv}}")) > 0) {
                r = sd_bus_message_read(message, "o", &path);
                if (r >= 0)
                        r = read_interfaces(source, message, path);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

static int on_objects(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldLinkSource *source = userdata;
        int r;

        source->reading = sd_bus_slot_unref(source->reading);
        /* There is no such object if nothing was measured yet. */
        if (sd_bus_message_is_method_error(reply, NULL))
                return 0;
        r = read_objects(source, reply);
        if (r < 0)
                warn_once(source, "GetManagedObjects", NULL, r);
        return 0;
}

/* Reads all objects. The call goes to the owner, so that the service is not started again if it has
 * exited. */
static void read_all(AldLinkSource *source)
{
        int r;

        source->reading = sd_bus_slot_unref(source->reading);
        r = sd_bus_call_method_async(ald_service_bus(source->service), &source->reading,
                ald_peer_owner(source->peer), LINK_PROBE_PATH, "org.freedesktop.DBus.ObjectManager",
                "GetManagedObjects", on_objects, source, NULL);
        if (r < 0)
                g_warning("Failed to call %s: %s", LINK_PROBE_NAME, g_strerror(-r));
}

/* Reads a change. It is useful only with the complete record; a change that includes the key is complete. */
static int read_change(AldLinkSource *source, sd_bus_message *message, const char *path, AldKind kind)
{
        const AldRecord *base = g_hash_table_lookup(source->seen, path);
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *key = NULL;
        const char *field = NULL;
        int r;

        if (base && base->kind != kind)
                base = NULL;
        r = ald_record_bus_read(message, kind, base, &record, &field);
        if (r < 0) {
                warn_once(source, path, field, r);
                g_hash_table_remove(source->seen, path);
                return 0;
        }
        key = ald_link_result_key(record);
        if (key)
                apply_record(source, path, record);
        else if (!source->reading)
                read_all(source);
        return 0;
}

static int on_properties_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const char *path = sd_bus_message_get_path(message), *interface;
        int r, kind;

        r = sd_bus_message_read(message, "s", &interface);
        if (r < 0)
                return r;
        kind = kind_of_link(path, interface);
        return kind < 0 ? 0 : read_change(userdata, message, path, (AldKind) kind);
}

static int on_interfaces_added(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const char *path;
        int r;

        r = sd_bus_message_read(message, "o", &path);
        return r < 0 ? r : read_interfaces(userdata, message, path);
}

static int on_interfaces_removed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkSource *source = userdata;
        const char *path;
        int r;

        r = sd_bus_message_read(message, "o", &path);
        if (r < 0)
                return r;
        g_hash_table_remove(source->seen, path);
        return 0;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        AldLinkSource *source = userdata;

        source->reading = sd_bus_slot_unref(source->reading);
        g_hash_table_remove_all(source->seen);
        if (owner)
                read_all(source);
}

static int match_signals(AldLinkSource *source)
{
        static const char manager[] = "org.freedesktop.DBus.ObjectManager";
        int r;

        r = ald_peer_match_signal(source->peer, LINK_PREFIX, "org.freedesktop.DBus.Properties",
                "PropertiesChanged", NULL, on_properties_changed);
        if (r >= 0)
                r = ald_peer_match_signal(
                        source->peer, LINK_PROBE_PATH, manager, "InterfacesAdded", NULL, on_interfaces_added);
        if (r >= 0)
                r = ald_peer_match_signal(source->peer, LINK_PROBE_PATH, manager, "InterfacesRemoved", NULL,
                        on_interfaces_removed);
        return r;
}

int ald_link_source_new(AldService *service, AldStateManager *manager, AldLinkSource **ret)
{
        g_autoptr(AldLinkSource) source = g_new0(AldLinkSource, 1);
        int r;

        source->service = service;
        source->manager = manager;
        source->seen = g_hash_table_new_full(
                g_str_hash, g_str_equal, g_free, (GDestroyNotify) ald_record_unref);
        r = ald_peer_new(service, ald_service_bus(service), LINK_PROBE_NAME, on_owner, source, &source->peer);
        if (r >= 0)
                r = match_signals(source);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&source);
        return 0;
}

void ald_link_source_free(AldLinkSource *source)
{
        if (!source)
                return;
        ald_peer_free(source->peer);
        sd_bus_slot_unref(source->reading);
        g_hash_table_unref(source->seen);
        g_free(source);
}
