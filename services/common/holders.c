/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/common/holders.h"
#include "services/common/peer.h"

/* Each costs a match rule, of which the bus grants 512 to a connection. */
#define HOLDERS_MAX 256u

struct AldHolders {
        AldService *service;
        GHashTable *by_name; /* unique name → Holder */
        AldHoldersChanged changed;
        void *userdata;
};

typedef struct Holder {
        AldHolders *all;
        char *name;
        AldPeer *peer; /* not an sd_bus_track, which believes anybody who says that a connection is gone */
} Holder;

static void holder_free(gpointer data)
{
        Holder *holder = data;

        ald_peer_free(holder->peer);
        g_free(holder->name);
        g_free(holder);
}

AldHolders *ald_holders_new(AldService *service, AldHoldersChanged changed, void *userdata)
{
        AldHolders *holders = g_new0(AldHolders, 1);

        holders->service = service;
        holders->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, holder_free);
        holders->changed = changed;
        holders->userdata = userdata;
        return holders;
}

void ald_holders_free(AldHolders *holders)
{
        if (!holders)
                return;
        g_hash_table_unref(holders->by_name);
        g_free(holders);
}

static bool drop(AldHolders *holders, const char *name)
{
        if (!g_hash_table_remove(holders->by_name, name))
                return false;
        if (g_hash_table_size(holders->by_name) == 0)
                holders->changed(false, holders->userdata);
        return true;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        Holder *holder = userdata;

        if (!owner)
                drop(holder->all, holder->name);
}

int ald_holders_add(AldHolders *holders, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message);
        Holder *holder;
        int r;

        if (g_hash_table_contains(holders->by_name, sender))
                return 0;
        if (g_hash_table_size(holders->by_name) >= HOLDERS_MAX)
                return -ENOSPC;
        holder = g_new0(Holder, 1);
        holder->all = holders;
        holder->name = g_strdup(sender);
        r = ald_peer_new(
                holders->service, ald_service_bus(holders->service), sender, on_owner, holder, &holder->peer);
        if (r < 0) {
                holder_free(holder);
                return r;
        }
        g_hash_table_insert(holders->by_name, holder->name, holder);
        holders->changed(true, holders->userdata);
        return 0;
}

int ald_holders_remove(AldHolders *holders, sd_bus_message *message)
{
        return drop(holders, sd_bus_message_get_sender(message)) ? 0 : -ENOENT;
}
