/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/common/peer.h"
#include "services/state/subscribers-bus.h"

/* Each costs a match rule, of which the bus grants 512 to a connection. */
#define SUBSCRIBERS_MAX 256u

struct AldSubscribers {
        AldService *service;
        GHashTable *by_name; /* unique name → Subscriber */
        AldSubscribersChanged changed;
        void *userdata;
};

typedef struct Subscriber {
        AldSubscribers *all;
        char *name;
        AldPeer *peer; /* not an sd_bus_track, which believes anybody who says that a connection is gone */
} Subscriber;

static void subscriber_free(gpointer data)
{
        Subscriber *subscriber = data;

        ald_peer_free(subscriber->peer);
        g_free(subscriber->name);
        g_free(subscriber);
}

AldSubscribers *ald_subscribers_new(AldService *service, AldSubscribersChanged changed, void *userdata)
{
        AldSubscribers *subscribers = g_new0(AldSubscribers, 1);

        subscribers->service = service;
        subscribers->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, subscriber_free);
        subscribers->changed = changed;
        subscribers->userdata = userdata;
        return subscribers;
}

void ald_subscribers_free(AldSubscribers *subscribers)
{
        if (!subscribers)
                return;
        g_hash_table_unref(subscribers->by_name);
        g_free(subscribers);
}

static bool drop(AldSubscribers *subscribers, const char *name)
{
        if (!g_hash_table_remove(subscribers->by_name, name))
                return false;
        if (g_hash_table_size(subscribers->by_name) == 0)
                subscribers->changed(false, subscribers->userdata);
        return true;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        Subscriber *subscriber = userdata;

        if (!owner)
                drop(subscriber->all, subscriber->name);
}

int ald_subscribers_add(AldSubscribers *subscribers, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message);
        Subscriber *subscriber;
        int r;

        if (g_hash_table_contains(subscribers->by_name, sender))
                return 0;
        if (g_hash_table_size(subscribers->by_name) >= SUBSCRIBERS_MAX)
                return -ENOSPC;
        subscriber = g_new0(Subscriber, 1);
        subscriber->all = subscribers;
        subscriber->name = g_strdup(sender);
        r = ald_peer_new(subscribers->service, ald_service_bus(subscribers->service), sender, on_owner,
                subscriber, &subscriber->peer);
        if (r < 0) {
                subscriber_free(subscriber);
                return r;
        }
        g_hash_table_insert(subscribers->by_name, subscriber->name, subscriber);
        subscribers->changed(true, subscribers->userdata);
        return 0;
}

int ald_subscribers_remove(AldSubscribers *subscribers, sd_bus_message *message)
{
        return drop(subscribers, sd_bus_message_get_sender(message)) ? 0 : -ENOENT;
}
