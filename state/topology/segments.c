/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/segments-build.h"

const char *ald_segment_how_to_string(AldSegmentHow how)
{
        static const char *const names[] = { "thunderbolt", "lldp", "infiniband", "roce" };

        g_assert((size_t) how < G_N_ELEMENTS(names));
        return names[how];
}

static int compare_members(const AldSegmentMember *a, const AldSegmentMember *b)
{
        int r = ald_id_compare(&a->node->id, &b->node->id);

        return r != 0 ? r : strcmp(a->port, b->port);
}

static int compare_ports(gconstpointer a, gconstpointer b)
{
        const AldVertex *left = *(const AldVertex *const *) a, *right = *(const AldVertex *const *) b;
        const AldSegmentMember x = { left->node, left->name }, y = { right->node, right->name };

        return left->how != right->how ? (int) left->how - (int) right->how : compare_members(&x, &y);
}

static int compare_segments(gconstpointer a, gconstpointer b)
{
        const AldSegment *left = *(const AldSegment *const *) a, *right = *(const AldSegment *const *) b;
        int r = (int) left->how - (int) right->how;

        if (r == 0)
                r = compare_members(&g_array_index(left->members, AldSegmentMember, 0),
                        &g_array_index(right->members, AldSegmentMember, 0));
        return r != 0 ? r : (int) left->candidate - (int) right->candidate;
}

static void segment_free(gpointer data)
{
        AldSegment *segment = data;

        g_free(segment->identity);
        g_array_unref(segment->members);
        g_free(segment);
}

/* Connected ports, and whether they belong to several nodes and include uncertain ones. */
typedef struct SegmentPart {
        AldSegment *segment;
        const AldVertex *first_sure;
        bool several_nodes, several_sure;
} SegmentPart;

static SegmentPart *find_part(GHashTable *parts, AldVertex *vertex, AldJoin join)
{
        AldVertex *root = ald_segment_root(vertex, join);
        SegmentPart *part = g_hash_table_lookup(parts, root);

        if (part)
                return part;
        part = g_new0(SegmentPart, 1);
        part->segment = g_new0(AldSegment, 1);
        part->segment->how = vertex->how;
        part->segment->candidate = join == ALD_JOIN_MAYBE;
        part->segment->identity = g_strdup(vertex->identity);
        part->segment->members = g_array_new(FALSE, FALSE, sizeof(AldSegmentMember));
        part->first_sure = ald_segment_root(vertex, ALD_JOIN_SURE);
        g_hash_table_insert(parts, root, part);
        return part;
}

static void add_member(GHashTable *parts, AldVertex *vertex, AldJoin join)
{
        const AldSegmentMember member = { vertex->node, vertex->name };
        SegmentPart *part = find_part(parts, vertex, join);
        GArray *members = part->segment->members;

        g_array_append_val(members, member);
        if (g_array_index(members, AldSegmentMember, 0).node != vertex->node)
                part->several_nodes = true;
        if (part->first_sure != ald_segment_root(vertex, ALD_JOIN_SURE))
                part->several_sure = true;
}

static void gather_segments(GPtrArray *ports, AldJoin join, GPtrArray *segments)
{
        g_autoptr(GHashTable) parts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        GHashTableIter iter;
        gpointer value;

        for (guint i = 0; i < ports->len; i++)
                add_member(parts, ports->pdata[i], join);
        g_hash_table_iter_init(&iter, parts);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const SegmentPart *part = value;

                if (part->several_nodes && (join == ALD_JOIN_SURE || part->several_sure))
                        g_ptr_array_add(segments, part->segment);
                else
                        segment_free(part->segment);
        }
}

static GPtrArray *gather_all_segments(const AldSegmentBuild *build)
{
        GPtrArray *segments = g_ptr_array_new_with_free_func(segment_free);
        g_autoptr(GPtrArray) ports = g_ptr_array_new();
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, build->vertices);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                if (((const AldVertex *) key)->is_port)
                        g_ptr_array_add(ports, key);
        g_ptr_array_sort(ports, compare_ports);
        for (unsigned join = 0; join < ALD_N_JOINS; join++)
                gather_segments(ports, join, segments);
        g_ptr_array_sort(segments, compare_segments);
        return segments;
}

GPtrArray *ald_segments_compute(AldStore *store, GPtrArray *nodes, GArray **ret_cables)
{
        g_autoptr(AldOwners) owners = ald_owners_new(store, nodes);
        g_autoptr(GHashTable) vertices = ald_segment_vertices_new();
        g_autoptr(GHashTable) counted = g_hash_table_new(NULL, NULL);
        AldSegmentBuild build = {
                .store = store,
                .nodes = nodes,
                .counted = counted,
                .owners = owners,
                .strings = g_string_chunk_new(256),
                .vertices = vertices,
                .cables = ret_cables ? g_array_new(FALSE, FALSE, sizeof(AldCable)) : NULL,
        };
        GPtrArray *segments;

        for (guint i = 0; i < nodes->len; i++)
                g_hash_table_add(counted, nodes->pdata[i]);
        ald_segments_add_rdma_ports(&build);
        ald_segments_join_thunderbolt(&build);
        ald_segments_join_lldp(&build);
        ald_segments_join_by_links(&build);
        segments = gather_all_segments(&build);
        g_string_chunk_free(build.strings);
        if (ret_cables)
                *ret_cables = build.cables;
        return segments;
}

char **ald_segment_member_texts(const AldSegment *segment)
{
        char **texts = g_new0(char *, segment->members->len + 1), id[ALD_ID_STRING_SIZE];

        for (guint i = 0; i < segment->members->len; i++) {
                const AldSegmentMember *member = &g_array_index(segment->members, AldSegmentMember, i);

                texts[i] = g_strdup_printf("%s %s", ald_id_format(&member->node->id, id), member->port);
        }
        return texts;
}
