/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/listen/members.h"

typedef struct Proof {
        char *node;
        uint64_t when;
} Proof;

struct AldMembers {
        GHashTable *proved;   /* address → Proof */
        GHashTable *reported; /* addresses */
        GHashTable *next;     /* the addresses of the report that is being read */
        GHashTable *counts;   /* node → number of its addresses in `next` */
};

static void proof_free(gpointer data)
{
        Proof *proof = data;

        g_free(proof->node);
        g_free(proof);
}

AldMembers *ald_members_new(void)
{
        AldMembers *members = g_new0(AldMembers, 1);

        members->proved = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, proof_free);
        members->reported = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return members;
}

void ald_members_free(AldMembers *members)
{
        if (!members)
                return;
        g_hash_table_unref(members->proved);
        g_hash_table_unref(members->reported);
        g_clear_pointer(&members->next, g_hash_table_unref);
        g_clear_pointer(&members->counts, g_hash_table_unref);
        g_free(members);
}

/* If the limit is reached, removes the oldest proof of the node, or of all nodes if that is NULL. */
static void make_room(AldMembers *members, const char *node, unsigned max)
{
        const char *oldest = NULL;
        uint64_t least = UINT64_MAX;
        unsigned n = 0;
        GHashTableIter iter;
        gpointer address, value;

        g_hash_table_iter_init(&iter, members->proved);
        while (g_hash_table_iter_next(&iter, &address, &value)) {
                const Proof *proof = value;

                if (node && !g_str_equal(proof->node, node))
                        continue;
                n++;
                if (proof->when < least) {
                        least = proof->when;
                        oldest = address;
                }
        }
        if (oldest && n >= max)
                g_hash_table_remove(members->proved, oldest);
}

void ald_members_note_proof(AldMembers *members, const char *address, const char *node, uint64_t now)
{
        Proof *proof;

        if (!g_hash_table_contains(members->proved, address)) {
                make_room(members, node, ALD_MEMBERS_ADDRESSES_MAX);
                make_room(members, NULL, ALD_MEMBERS_MAX);
        }
        proof = g_new(Proof, 1);
        *proof = (Proof){ g_strdup(node), now };
        g_hash_table_replace(members->proved, g_strdup(address), proof);
}

void ald_members_begin_reported(AldMembers *members)
{
        g_clear_pointer(&members->next, g_hash_table_unref);
        g_clear_pointer(&members->counts, g_hash_table_unref);
        members->next = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        members->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void ald_members_add_reported(AldMembers *members, const char *address, const char *node)
{
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(members->counts, node));

        if (n >= ALD_MEMBERS_ADDRESSES_MAX || g_hash_table_size(members->next) >= ALD_MEMBERS_MAX)
                return;
        g_hash_table_replace(members->counts, g_strdup(node), GUINT_TO_POINTER(n + 1));
        g_hash_table_add(members->next, g_strdup(address));
}

void ald_members_end_reported(AldMembers *members)
{
        g_hash_table_unref(members->reported);
        members->reported = g_steal_pointer(&members->next);
        g_clear_pointer(&members->counts, g_hash_table_unref);
}

const char *ald_members_find(const AldMembers *members, const char *address, uint64_t now)
{
        g_autofree char *plain = g_strndup(address, strcspn(address, "%"));
        const Proof *proof = g_hash_table_lookup(members->proved, address);

        if (proof && now - MIN(proof->when, now) < ALD_MEMBERS_PROOF_USEC)
                return proof->node;
        return g_hash_table_contains(members->reported, plain) ? address : NULL;
}
