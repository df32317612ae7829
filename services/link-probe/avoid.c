/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/link-probe/avoid.h"

struct AldAvoid {
        GHashTable *until; /* node → uint64_t */
};

AldAvoid *ald_avoid_new(void)
{
        AldAvoid *avoid = g_new(AldAvoid, 1);

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

static gboolean is_over(gpointer node, gpointer until, gpointer now)
{
        return *(uint64_t *) until <= *(uint64_t *) now;
}

uint64_t ald_avoid_add(AldAvoid *avoid, const char *node, uint64_t now)
{
        uint64_t span = ALD_AVOID_MIN_USEC +
                        (uint64_t) g_random_int_range(0, (gint32) (ALD_AVOID_MAX_USEC - ALD_AVOID_MIN_USEC));
        uint64_t until = now + span;

        g_hash_table_foreach_remove(avoid->until, is_over, &now);
        if (g_hash_table_size(avoid->until) < ALD_AVOID_MAX)
                g_hash_table_replace(avoid->until, g_strdup(node), g_memdup2(&until, sizeof until));
        return span;
}

void ald_avoid_foreach(
        AldAvoid *avoid, uint64_t now, void (*found)(const char *node, void *userdata), void *userdata)
{
        GHashTableIter iter;
        gpointer node;

        g_hash_table_foreach_remove(avoid->until, is_over, &now);
        g_hash_table_iter_init(&iter, avoid->until);
        while (g_hash_table_iter_next(&iter, &node, NULL))
                found(node, userdata);
}
