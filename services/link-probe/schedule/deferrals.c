/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/schedule/deferrals.h"

struct AldDeferrals {
        uint64_t min_usec, max_usec;
        GHashTable *until; /* name → uint64_t */
};

AldDeferrals *ald_deferrals_new(uint64_t min_usec, uint64_t max_usec)
{
        AldDeferrals *deferrals = g_new(AldDeferrals, 1);

        deferrals->min_usec = min_usec;
        deferrals->max_usec = max_usec;
        deferrals->until = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return deferrals;
}

void ald_deferrals_free(AldDeferrals *deferrals)
{
        if (!deferrals)
                return;
        g_hash_table_unref(deferrals->until);
        g_free(deferrals);
}

static gboolean has_expired(gpointer name, gpointer until, gpointer now)
{
        return *(uint64_t *) until <= *(uint64_t *) now;
}

uint64_t ald_deferrals_add(AldDeferrals *deferrals, const char *name, uint64_t now)
{
        uint64_t span = deferrals->min_usec + (uint64_t) g_random_int_range(0,
                                                      (gint32) (deferrals->max_usec - deferrals->min_usec));
        uint64_t until = now + span;

        g_hash_table_foreach_remove(deferrals->until, has_expired, &now);
        if (g_hash_table_size(deferrals->until) < ALD_DEFERRALS_MAX)
                g_hash_table_replace(deferrals->until, g_strdup(name), g_memdup2(&until, sizeof until));
        return span;
}

bool ald_deferrals_has(const AldDeferrals *deferrals, const char *name, uint64_t now)
{
        const uint64_t *until = g_hash_table_lookup(deferrals->until, name);

        return until && *until > now;
}

void ald_deferrals_append(AldDeferrals *deferrals, uint64_t now, GPtrArray *names)
{
        GHashTableIter iter;
        gpointer name;

        g_hash_table_foreach_remove(deferrals->until, has_expired, &now);
        g_hash_table_iter_init(&iter, deferrals->until);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                g_ptr_array_add(names, g_strdup(name));
}
