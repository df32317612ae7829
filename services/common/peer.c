/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/common/peer.h"
#include "common/bus-cleanup.h"

typedef struct Match {
        AldPeer *peer;
        sd_bus_message_handler_t handler;
        sd_bus_slot *slot;
} Match;

struct AldPeer {
        AldService *service;
        sd_bus *bus;
        char *name;
        char *owner;
        bool known; /* the bus has reported the owner */
        sd_bus_slot *owner_match, *owner_query;
        GSList *matches;
        AldPeerOwnerChanged changed;
        void *userdata;
};

static void set_owner(AldPeer *peer, const char *owner)
{
        if (owner && !*owner)
                owner = NULL;
        if (peer->known && g_strcmp0(peer->owner, owner) == 0)
                return;
        peer->known = true;
        g_free(peer->owner);
        peer->owner = g_strdup(owner);
        if (peer->changed)
                peer->changed(peer, peer->owner, peer->userdata);
}

/* Accepts this signal only from the bus itself, which writes its own name into the message, so that nobody
 * can forge it. */
static int on_owner_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldPeer *peer = userdata;
        const char *name, *owner;
        int r;

        if (g_strcmp0(sd_bus_message_get_sender(message), "org.freedesktop.DBus") != 0) {
                ald_service_refuse_signal(peer->service, message);
                return 0;
        }
        r = sd_bus_message_read(message, "sss", &name, NULL, &owner);
        if (r < 0)
                return r;
        if (g_str_equal(name, peer->name)) {
                peer->owner_query = sd_bus_slot_unref(peer->owner_query);
                set_owner(peer, owner);
        }
        return 0;
}

static int on_owner_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldPeer *peer = userdata;
        const char *owner = NULL;

        peer->owner_query = sd_bus_slot_unref(peer->owner_query);
        if (!sd_bus_message_is_method_error(reply, NULL))
                sd_bus_message_read(reply, "s", &owner);
        set_owner(peer, owner);
        return 0;
}

static int watch_owner(AldPeer *peer)
{
        g_autofree char *rule = g_strdup_printf(
                "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
                peer->name);
        int r;

        r = sd_bus_add_match_async(peer->bus, &peer->owner_match, rule, on_owner_changed, NULL, peer);
        if (r < 0)
                return r;
        return sd_bus_call_method_async(peer->bus, &peer->owner_query, "org.freedesktop.DBus",
                "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", on_owner_reply, peer, "s",
                peer->name);
}

int ald_peer_new(AldService *service, sd_bus *bus, const char *name, AldPeerOwnerChanged changed,
        void *userdata, AldPeer **ret)
{
        AldPeer *peer = g_new0(AldPeer, 1);
        int r;

        peer->service = service;
        peer->bus = sd_bus_ref(bus);
        peer->name = g_strdup(name);
        peer->changed = changed;
        peer->userdata = userdata;
        r = watch_owner(peer);
        if (r < 0) {
                ald_peer_free(peer);
                return r;
        }
        *ret = peer;
        return 0;
}

static void match_free(gpointer data)
{
        Match *match = data;

        sd_bus_slot_unref(match->slot);
        g_free(match);
}

void ald_peer_free(AldPeer *peer)
{
        if (!peer)
                return;
        g_slist_free_full(peer->matches, match_free);
        sd_bus_slot_unref(peer->owner_match);
        sd_bus_slot_unref(peer->owner_query);
        sd_bus_unref(peer->bus);
        g_free(peer->owner);
        g_free(peer->name);
        g_free(peer);
}

const char *ald_peer_owner(AldPeer *peer)
{
        return peer->owner;
}

static int on_signal(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        Match *match = userdata;
        AldPeer *peer = match->peer;

        if (!peer->known)
                return 0; /* everything is read again once the owner is known */
        if (g_strcmp0(sd_bus_message_get_sender(message), peer->owner) != 0) {
                ald_service_refuse_signal(peer->service, message);
                return 0;
        }
        return match->handler(message, peer->userdata, error);
}

int ald_peer_match_signal(AldPeer *peer, const char *path, const char *interface, const char *member,
        const char *arg0, sd_bus_message_handler_t handler)
{
        g_autoptr(GString) rule = g_string_new(NULL);
        Match *match = g_new0(Match, 1);
        int r;

        g_string_printf(
                rule, "type='signal',sender='%s',interface='%s',member='%s'", peer->name, interface, member);
        if (path && g_str_has_suffix(path, "/"))
                g_string_append_printf(rule, ",path_namespace='%.*s'", (int) strlen(path) - 1, path);
        else if (path)
                g_string_append_printf(rule, ",path='%s'", path);
        if (arg0)
                g_string_append_printf(rule, ",arg0='%s'", arg0);
        match->peer = peer;
        match->handler = handler;
        r = sd_bus_add_match_async(peer->bus, &match->slot, rule->str, on_signal, NULL, match);
        if (r < 0) {
                match_free(match);
                return r;
        }
        peer->matches = g_slist_prepend(peer->matches, match);
        return 0;
}
