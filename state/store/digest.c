/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/store/digest.h"

static uint64_t hash_entry(const AldEntry *entry)
{
        uint64_t hash = ald_hash_bytes(ALD_HASH_BASIS, &entry->node->id, sizeof entry->node->id);

        hash = ald_hash_text(hash, ald_kinds[entry->kind].name);
        hash = ald_hash_text(hash, entry->key ? entry->key : "");
        /* Mixing twice makes the sums of similar hashes differ. */
        return ald_hash_mix(ald_hash_mix(hash) + entry->record->hash);
}

typedef struct DigestSum {
        AldDigest digest;
        int kind;
} DigestSum;

static void add_entry_to_sum(DigestSum *sum, const AldEntry *entry)
{
        bool left_out = sum->kind < 0 ? ald_kinds[entry->kind].local : (int) entry->kind != sum->kind;

        if (!entry->record || left_out)
                return;
        sum->digest.count++;
        sum->digest.sum += hash_entry(entry);
}

static gboolean add_node_to_sum(AldNode *node, void *userdata)
{
        DigestSum *sum = userdata;

        if (sum->kind >= 0 && !ald_kinds[sum->kind].is_link) {
                add_entry_to_sum(sum, &node->entries[sum->kind]);
                return FALSE;
        }
        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry))
                add_entry_to_sum(sum, entry);
        return FALSE;
}

AldDigest ald_digest_compute(AldStore *store, int kind)
{
        DigestSum sum = { .kind = kind };

        ald_store_foreach_node(store, add_node_to_sum, &sum);
        return sum.digest;
}
