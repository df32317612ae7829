/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/listen/accept-limit.h"

typedef struct Entry {
        void *connection;
        AldRemoteClass class;
        char place[ALD_PLACE_MAX];
        uint64_t since;
} Entry;

/* The rates of a class. Each new connection delays the time when the whole burst is available again. */
typedef struct Class {
        uint64_t full;      /* that time for the class */
        GHashTable *places; /* place → uint64_t, that time for the place */
} Class;

struct AldAcceptLimit {
        const AldAcceptShare *shares;
        Class classes[ALD_REMOTE_CLASS_N];
        GPtrArray *entries; /* by age, the oldest first */
};

AldAcceptLimit *ald_accept_limit_new(const AldAcceptShare *shares)
{
        AldAcceptLimit *limit = g_new0(AldAcceptLimit, 1);

        limit->shares = shares;
        limit->entries = g_ptr_array_new_with_free_func(g_free);
        for (AldRemoteClass i = 0; i < ALD_REMOTE_CLASS_N; i++)
                limit->classes[i].places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return limit;
}

void ald_accept_limit_free(AldAcceptLimit *limit)
{
        if (!limit)
                return;
        for (AldRemoteClass i = 0; i < ALD_REMOTE_CLASS_N; i++)
                g_hash_table_unref(limit->classes[i].places);
        g_ptr_array_unref(limit->entries);
        g_free(limit);
}

static bool may_begin(uint64_t full, unsigned per_second, unsigned burst, uint64_t now)
{
        return per_second == 0 || full < now + (uint64_t) burst * G_USEC_PER_SEC / per_second;
}

static uint64_t full_after_one_more(uint64_t full, unsigned per_second, uint64_t now)
{
        return per_second == 0 ? full : MAX(full, now) + G_USEC_PER_SEC / per_second;
}

static void forget_idlest_place(GHashTable *places)
{
        uint64_t least = UINT64_MAX;
        const char *quietest = NULL;
        GHashTableIter iter;
        gpointer place, full;

        g_hash_table_iter_init(&iter, places);
        while (g_hash_table_iter_next(&iter, &place, &full))
                if (*(uint64_t *) full < least) {
                        least = *(uint64_t *) full;
                        quietest = place;
                }
        if (quietest)
                g_hash_table_remove(places, quietest);
}

static bool rate_allows(const AldAcceptLimit *limit, const AldRemote *remote, uint64_t now)
{
        const AldAcceptShare *share = &limit->shares[remote->class];
        const Class *class = &limit->classes[remote->class];
        const uint64_t *full = g_hash_table_lookup(class->places, remote->place);

        return may_begin(class->full, share->per_second, share->burst, now) &&
               may_begin(full ? *full : 0, share->place_per_second, share->place_burst, now);
}

static void count_begin(AldAcceptLimit *limit, const AldRemote *remote, uint64_t now)
{
        const AldAcceptShare *share = &limit->shares[remote->class];
        Class *class = &limit->classes[remote->class];
        const uint64_t *known = g_hash_table_lookup(class->places, remote->place);
        uint64_t full;

        class->full = full_after_one_more(class->full, share->per_second, now);
        if (share->place_per_second == 0)
                return;
        full = full_after_one_more(known ? *known : 0, share->place_per_second, now);
        if (!known && g_hash_table_size(class->places) >= ALD_ACCEPT_LIMIT_PLACES_MAX)
                forget_idlest_place(class->places);
        g_hash_table_replace(class->places, g_strdup(remote->place), g_memdup2(&full, sizeof full));
}

/* Counts the entries of the class, only those of the place if that is not NULL, and finds the oldest of
 * them. */
static unsigned count_entries(
        const AldAcceptLimit *limit, AldRemoteClass class, const char *place, Entry **ret_oldest)
{
        unsigned n = 0;

        for (unsigned i = limit->entries->len; i-- > 0;) {
                Entry *entry = limit->entries->pdata[i];

                if (entry->class != class || (place && !g_str_equal(entry->place, place)))
                        continue;
                *ret_oldest = entry;
                n++;
        }
        return n;
}

/* Returns the entry of the connection that must be closed, or NULL if there is room. */
static Entry *find_entry_to_evict(const AldAcceptLimit *limit, const AldRemote *remote)
{
        const AldAcceptShare *share = &limit->shares[remote->class];
        Entry *oldest = NULL;

        if (count_entries(limit, remote->class, remote->place, &oldest) >= share->place_max ||
                count_entries(limit, remote->class, NULL, &oldest) >= share->max)
                return oldest;
        return NULL;
}

int ald_accept_limit_enter(
        AldAcceptLimit *limit, const AldRemote *remote, uint64_t now, void *connection, void **ret_evicted)
{
        void *evicted = NULL;
        Entry *entry;

        if (!rate_allows(limit, remote, now))
                return -EBUSY;
        entry = find_entry_to_evict(limit, remote);
        if (entry) {
                if (now - entry->since < limit->shares[remote->class].replace_after_usec)
                        return -EUSERS;
                evicted = entry->connection;
                g_ptr_array_remove(limit->entries, entry);
        }
        entry = g_new(Entry, 1);
        *entry = (Entry){ .connection = connection, .class = remote->class, .since = now };
        memcpy(entry->place, remote->place, sizeof entry->place);
        g_ptr_array_add(limit->entries, entry);
        count_begin(limit, remote, now);
        *ret_evicted = evicted;
        return 0;
}

void ald_accept_limit_leave(AldAcceptLimit *limit, const void *connection)
{
        for (unsigned i = 0; i < limit->entries->len; i++)
                if (((const Entry *) limit->entries->pdata[i])->connection == connection) {
                        g_ptr_array_remove_index(limit->entries, i);
                        return;
                }
}
