/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/link-probe/link/neighbours.h"

struct AldNeighbours {
        unsigned n;             /* segments */
        GHashTable *segment[2]; /* "NODE PORT" → number of its segment, from 1 on; candidates last */
};

AldNeighbours *ald_neighbours_new(void)
{
        AldNeighbours *neighbours = g_new0(AldNeighbours, 1);

        for (unsigned i = 0; i < 2; i++)
                neighbours->segment[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return neighbours;
}

void ald_neighbours_free(AldNeighbours *neighbours)
{
        if (!neighbours)
                return;
        for (unsigned i = 0; i < 2; i++)
                g_hash_table_unref(neighbours->segment[i]);
        g_free(neighbours);
}

void ald_neighbours_add(AldNeighbours *neighbours, const char *const *members, unsigned n, bool candidate)
{
        neighbours->n++;
        for (unsigned i = 0; i < n; i++)
                g_hash_table_replace(neighbours->segment[candidate], g_strdup(members[i]),
                        GUINT_TO_POINTER(neighbours->n));
}

static bool is_of(const char *member, const char *node)
{
        return g_str_has_prefix(member, node) && member[strlen(node)] == ' ';
}

AldNeighbours *ald_neighbours_between(const AldRows *segments, const char *node, const char *other)
{
        AldNeighbours *neighbours = ald_neighbours_new();

        for (size_t i = 0; i < segments->n; i++) {
                const AldSegmentRow *segment = ald_rows_at(segments, i);
                g_autoptr(GPtrArray) kept = g_ptr_array_new();

                for (const char *const *member = segment->members; member && *member; member++)
                        if (is_of(*member, node) || is_of(*member, other))
                                g_ptr_array_add(kept, (gpointer) *member);
                ald_neighbours_add(
                        neighbours, (const char *const *) kept->pdata, kept->len, segment->candidate == 1);
        }
        return neighbours;
}

static gpointer segment_of(GHashTable *segment, const char *node, const char *port)
{
        g_autofree char *name = g_strdup_printf("%s %s", node, port);

        return g_hash_table_lookup(segment, name);
}

unsigned ald_neighbours_rank(const AldNeighbours *neighbours, const char *node, const char *port,
        const char *other_node, const char *other_port)
{
        for (unsigned i = 0; i < 2; i++) {
                gpointer segment = segment_of(neighbours->segment[i], node, port);

                if (segment && segment == segment_of(neighbours->segment[i], other_node, other_port))
                        return 2 - i;
        }
        return 0;
}
