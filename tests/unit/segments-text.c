/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/segments-text.h"

unsigned segments_node(const AldNode *node)
{
        const uint8_t *bytes = node->id.bytes;

        return (unsigned) bytes[0] << 24 | (unsigned) bytes[1] << 16 | (unsigned) bytes[2] << 8 | bytes[3];
}

static void append_segment(GString *text, const AldSegment *segment)
{
        g_string_append_printf(text, "%s%s%s%s%s:", text->len > 0 ? "; " : "",
                ald_segment_how_to_string(segment->how), segment->candidate ? "?" : "",
                segment->identity ? " " : "", segment->identity ?: "");
        for (guint i = 0; i < segment->members->len; i++) {
                const AldSegmentMember *member = &g_array_index(segment->members, AldSegmentMember, i);

                g_string_append_printf(
                        text, "%s %u %s", i > 0 ? "," : "", segments_node(member->node), member->port);
        }
}

char *segments_text(GPtrArray *segments)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < segments->len; i++)
                append_segment(text, segments->pdata[i]);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static gboolean add_node(AldNode *node, void *nodes)
{
        if (ald_node_counts(node))
                g_ptr_array_add(nodes, node);
        return FALSE;
}

GPtrArray *segments_of_all(AldStore *store)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new();

        ald_store_foreach_node(store, add_node, nodes);
        return ald_segments_compute(store, nodes, NULL);
}
