/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/link-probe/avoid.h"

struct AldAvoid {
        uint64_t min_usec, max_usec;
        GHashTable *until; /* name → uint64_t */
};

AldAvoid *ald_avoid_new(uint64_t min_usec, uint64_t max_usec)
{
        AldAvoid *avoid = g_new(AldAvoid, 1);

        avoid->min_usec = min_usec;
        avoid->max_usec = max_usec;
        avoid->until = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return avoid;
}

void ald_avoid_free(AldAvoid *avoid)
{
        if (!avoid)
                return;
        g_hash_table_unref(avoid->until);
        g_free(avoid);
}

static gboolean is_over(gpointer name, gpointer until, gpointer now)
{
        return *(uint64_t *) until <= *(uint64_t *) now;
}

uint64_t ald_avoid_add(AldAvoid *avoid, const char *name, uint64_t now)
{
        uint64_t span = avoid->min_usec +
                        (uint64_t) g_random_int_range(0, (gint32) (avoid->max_usec - avoid->min_usec));
        uint64_t until = now + span;

        g_hash_table_foreach_remove(avoid->until, is_over, &now);
        if (g_hash_table_size(avoid->until) < ALD_AVOID_MAX)
                g_hash_table_replace(avoid->until, g_strdup(name), g_memdup2(&until, sizeof until));
        return span;
}

bool ald_avoid_has(const AldAvoid *avoid, const char *name, uint64_t now)
{
        const uint64_t *until = g_hash_table_lookup(avoid->until, name);

        return until && *until > now;
}

void ald_avoid_foreach(
        AldAvoid *avoid, uint64_t now, void (*found)(const char *name, void *userdata), void *userdata)
{
        GHashTableIter iter;
        gpointer name;

        g_hash_table_foreach_remove(avoid->until, is_over, &now);
        g_hash_table_iter_init(&iter, avoid->until);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                found(name, userdata);
}
