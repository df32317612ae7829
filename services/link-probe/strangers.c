/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/link-probe/strangers.h"

/* A place is even with us at that time; each stranger puts it off by a period. */
struct AldStrangers {
        GHashTable *even; /* place → uint64_t */
};

AldStrangers *ald_strangers_new(void)
{
        AldStrangers *strangers = g_new(AldStrangers, 1);

        strangers->even = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return strangers;
}

void ald_strangers_free(AldStrangers *strangers)
{
        if (!strangers)
                return;
        g_hash_table_unref(strangers->even);
        g_free(strangers);
}

static void forget_oldest(AldStrangers *strangers)
{
        uint64_t least = UINT64_MAX;
        const char *oldest = NULL;
        GHashTableIter iter;
        gpointer place, even;

        g_hash_table_iter_init(&iter, strangers->even);
        while (g_hash_table_iter_next(&iter, &place, &even))
                if (*(uint64_t *) even < least) {
                        least = *(uint64_t *) even;
                        oldest = place;
                }
        if (oldest)
                g_hash_table_remove(strangers->even, oldest);
}

void ald_strangers_note(AldStrangers *strangers, const char *place, uint64_t now)
{
        uint64_t *even = g_hash_table_lookup(strangers->even, place), until;

        until = (even ? MAX(*even, now) : now) + ALD_STRANGERS_PERIOD_USEC;
        if (!even && g_hash_table_size(strangers->even) >= ALD_STRANGERS_PLACES_MAX)
                forget_oldest(strangers);
        g_hash_table_replace(strangers->even, g_strdup(place), g_memdup2(&until, sizeof until));
}

bool ald_strangers_may_come(AldStrangers *strangers, const char *place, uint64_t now)
{
        const uint64_t *even = g_hash_table_lookup(strangers->even, place);

        return !even || *even < now + ALD_STRANGERS_BURST * ALD_STRANGERS_PERIOD_USEC;
}
