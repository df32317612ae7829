/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/common/holders.h"
#include "services/common/peer.h"

/* Each holder costs one of our match rules. */
#define MATCH_RULES_MAX 512u /* the bus's limit for one connection */
G_STATIC_ASSERT(ALD_HOLDERS_MAX <= MATCH_RULES_MAX / 2);

struct AldHolders {
        AldService *service;
        GHashTable *by_name; /* unique name → Holder */
        AldHoldersChanged changed;
        void *userdata;
};

typedef struct Holder {
        AldHolders *all;
        char *name;
        uid_t uid;
        AldPeer *peer; /* not an sd_bus_track, which trusts any sender of NameOwnerChanged */
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

static bool drop_holder(AldHolders *holders, const char *name)
{
        Holder *holder = g_hash_table_lookup(holders->by_name, name);

        if (!holder)
                return false;
        g_hash_table_steal(holders->by_name, name);
        holders->changed(holder->name, holder->uid, false, holders->userdata);
        holder_free(holder);
        return true;
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        Holder *holder = userdata;

        if (!owner)
                drop_holder(holder->all, holder->name);
}

/* Checks the limits. Root gets a place even if all other places are taken, and other users do even if one of
 * them has taken many. */
static int find_room(const AldHolders *holders, uid_t uid)
{
        unsigned of_user = 0, of_others = 0;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, holders->by_name);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Holder *holder = value;

                of_user += holder->uid == uid;
                of_others += holder->uid != 0;
        }
        if (of_user >= ALD_HOLDERS_PER_USER_MAX)
                return -ENOSPC;
        return uid != 0 && of_others >= ALD_HOLDERS_MAX - ALD_HOLDERS_OF_ROOT ? -EUSERS : 0;
}

int ald_holders_add(AldHolders *holders, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message);
        Holder *holder;
        uid_t uid;
        int r;

        if (g_hash_table_contains(holders->by_name, sender))
                return 0;
        r = ald_service_sender_uid(holders->service, message, &uid);
        if (r >= 0)
                r = find_room(holders, uid);
        if (r < 0)
                return r;
        holder = g_new0(Holder, 1);
        holder->all = holders;
        holder->name = g_strdup(sender);
        holder->uid = uid;
        r = ald_peer_new(
                holders->service, ald_service_bus(holders->service), sender, on_owner, holder, &holder->peer);
        if (r < 0) {
                holder_free(holder);
                return r;
        }
        g_hash_table_insert(holders->by_name, holder->name, holder);
        holders->changed(holder->name, uid, true, holders->userdata);
        return 0;
}

int ald_holders_set_error(int r, const char *method, sd_bus_error *error)
{
        switch (r) {
        case -ENOSPC:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "%u connections of this user have called %s() already, which is the limit",
                        ALD_HOLDERS_PER_USER_MAX, method);
        case -EUSERS:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "%u connections have called %s() already, which is the limit",
                        ALD_HOLDERS_MAX - ALD_HOLDERS_OF_ROOT, method);
        case -ENODATA:
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_ACCESS_DENIED, "Cannot determine the caller's credentials");
        default:
                return r;
        }
}

bool ald_holders_any(const AldHolders *holders)
{
        return g_hash_table_size(holders->by_name) > 0;
}

int ald_holders_remove(AldHolders *holders, sd_bus_message *message)
{
        return drop_holder(holders, sd_bus_message_get_sender(message)) ? 0 : -ENOENT;
}
