/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/store/digest.h"

#define HASH_BASIS UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
        for (const uint8_t *byte = bytes; n > 0; byte++, n--)
                hash = (hash ^ *byte) * HASH_PRIME;
        return hash;
}

/* With its NUL, so that what follows cannot be taken for its end. */
static uint64_t hash_string(uint64_t hash, const char *string)
{
        return hash_bytes(hash, string, strlen(string) + 1);
}

/* Mixes the bits, so that sums of similar hashes differ (splitmix64). */
static uint64_t spread(uint64_t hash)
{
        hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
        return hash ^ (hash >> 31);
}

static uint64_t hash_entry(const AldEntry *entry)
{
        uint64_t hash = hash_bytes(HASH_BASIS, &entry->node->id, sizeof entry->node->id);

        hash = hash_string(hash, ald_kinds[entry->kind].name);
        hash = hash_string(hash, entry->key ? entry->key : "");
        return spread(spread(hash) + entry->record->hash);
}

typedef struct Sum {
        AldDigest digest;
        int kind;
} Sum;

static void add_entry(Sum *sum, const AldEntry *entry)
{
        bool left_out = sum->kind < 0 ? ald_kinds[entry->kind].local : (int) entry->kind != sum->kind;

        if (!entry->record || left_out)
                return;
        sum->digest.count++;
        sum->digest.sum += hash_entry(entry);
}

static gboolean add_node(AldNode *node, void *userdata)
{
        Sum *sum = userdata;

        if (sum->kind >= 0 && !ald_kinds[sum->kind].is_link) {
                add_entry(sum, &node->entries[sum->kind]);
                return FALSE;
        }
        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry))
                add_entry(sum, entry);
        return FALSE;
}

AldDigest ald_digest_compute(AldStore *store, int kind)
{
        Sum sum = { .kind = kind };

        ald_store_foreach_node(store, add_node, &sum);
        return sum.digest;
}
