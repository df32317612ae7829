/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/mqtt/claims.h"

struct AldClaims {
        gatomicrefcount refs;
        GMutex lock;
        GHashTable *owners; /* by key */
};

AldClaims *ald_claims_new(void)
{
        AldClaims *claims = g_new0(AldClaims, 1);

        g_atomic_ref_count_init(&claims->refs);
        g_mutex_init(&claims->lock);
        claims->owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return claims;
}

AldClaims *ald_claims_ref(AldClaims *claims)
{
        g_atomic_ref_count_inc(&claims->refs);
        return claims;
}

void ald_claims_unref(AldClaims *claims)
{
        if (!claims || !g_atomic_ref_count_dec(&claims->refs))
                return;
        g_hash_table_unref(claims->owners);
        g_mutex_clear(&claims->lock);
        g_free(claims);
}

uint64_t ald_claims_take(AldClaims *claims, const char *key, uint64_t owner)
{
        const uint64_t *holder;
        uint64_t now;

        g_mutex_lock(&claims->lock);
        holder = g_hash_table_lookup(claims->owners, key);
        if (!holder)
                g_hash_table_insert(claims->owners, g_strdup(key), g_memdup2(&owner, sizeof(owner)));
        now = holder ? *holder : owner;
        g_mutex_unlock(&claims->lock);
        return now;
}

void ald_claims_drop(AldClaims *claims, const char *key, uint64_t owner)
{
        const uint64_t *holder;

        g_mutex_lock(&claims->lock);
        holder = g_hash_table_lookup(claims->owners, key);
        if (holder && *holder == owner)
                g_hash_table_remove(claims->owners, key);
        g_mutex_unlock(&claims->lock);
}
