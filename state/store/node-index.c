/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/store/node-index.h"

#define SLOTS_MIN 16u

typedef struct Slot {
        AldId id;
        AldNode *node; /* NULL: the slot is free */
} Slot;

/* A node is in the first slot from its hash on that was free; at most half of the slots are taken. */
struct AldNodeIndex {
        Slot *slots;
        size_t mask; /* the number of slots, a power of two, less 1 */
        size_t n;
};

AldNodeIndex *ald_node_index_new(void)
{
        AldNodeIndex *table = g_new0(AldNodeIndex, 1);

        table->slots = g_new0(Slot, SLOTS_MIN);
        table->mask = SLOTS_MIN - 1;
        return table;
}

void ald_node_index_free(AldNodeIndex *table)
{
        g_free(table->slots);
        g_free(table);
}

size_t ald_node_index_count(const AldNodeIndex *table)
{
        return table->n;
}

/* Returns the slot of this id, or the free one where it would be. */
static size_t find_slot(const AldNodeIndex *table, const AldId *id)
{
        size_t i = ald_id_table_hash(id) & table->mask;

        while (table->slots[i].node && !ald_id_equal(&table->slots[i].id, id))
                i = (i + 1) & table->mask;
        return i;
}

AldNode *ald_node_index_find(const AldNodeIndex *table, const AldId *id)
{
        return table->slots[find_slot(table, id)].node;
}

static void grow_slots(AldNodeIndex *table)
{
        g_autofree Slot *before = table->slots;
        size_t n = table->mask + 1;

        table->slots = g_new0(Slot, 2 * n);
        table->mask = 2 * n - 1;
        for (size_t i = 0; i < n; i++)
                if (before[i].node)
                        table->slots[find_slot(table, &before[i].id)] = before[i];
}

void ald_node_index_add(AldNodeIndex *table, AldNode *node)
{
        if (2 * (table->n + 1) > table->mask + 1)
                grow_slots(table);
        table->slots[find_slot(table, &node->id)] = (Slot){ .id = node->id, .node = node };
        table->n++;
}

/* Nodes behind a slot that becomes free would no longer be found, so each is put where it belongs now. */
void ald_node_index_remove(AldNodeIndex *table, const AldId *id)
{
        size_t i = find_slot(table, id);

        g_assert(table->slots[i].node);
        table->slots[i].node = NULL;
        table->n--;
        for (i = (i + 1) & table->mask; table->slots[i].node; i = (i + 1) & table->mask) {
                const Slot moved = table->slots[i];

                table->slots[i].node = NULL;
                table->slots[find_slot(table, &moved.id)] = moved;
        }
}
