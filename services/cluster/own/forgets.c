/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/own/forgets.h"

struct AldForgets {
        GHashTable *by_target;
};

typedef struct Forgotten {
        AldId target;
        AldNodeForget forget;
} Forgotten;

AldForgets *ald_forgets_new(void)
{
        AldForgets *forgets = g_new0(AldForgets, 1);

        forgets->by_target = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, g_free);
        return forgets;
}

void ald_forgets_free(AldForgets *forgets)
{
        if (!forgets)
                return;
        g_hash_table_unref(forgets->by_target);
        g_free(forgets);
}

bool ald_forgets_add(AldForgets *forgets, const AldId *target, const AldNodeForget *forget)
{
        Forgotten *forgotten = g_hash_table_lookup(forgets->by_target, target);

        if (!forgotten && g_hash_table_size(forgets->by_target) >= ALD_FORGETS_MAX)
                return false;
        if (!forgotten) {
                forgotten = g_new0(Forgotten, 1);
                forgotten->target = *target;
                g_hash_table_insert(forgets->by_target, &forgotten->target, forgotten);
        }
        forgotten->forget = *forget;
        return true;
}

bool ald_forgets_remove(AldForgets *forgets, const AldId *target)
{
        return g_hash_table_remove(forgets->by_target, target);
}

void ald_forgets_foreach(AldForgets *forgets, AldForgetsFunc func, void *userdata)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, forgets->by_target);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Forgotten *forgotten = value;
                func(&forgotten->target, &forgotten->forget, userdata);
        }
}

void ald_forgets_expire(AldForgets *forgets, uint64_t before, AldForgetsFunc func, void *userdata)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, forgets->by_target);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Forgotten *forgotten = value;

                if (forgotten->forget.sent_usec >= before)
                        continue;
                func(&forgotten->target, &forgotten->forget, userdata);
                g_hash_table_iter_remove(&iter);
        }
}
