/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record/record-key.h"
#include "state/link/interface-roles.h"
#include "state/link/link.h"
#include "state/planner/planner.h"

static bool has_port(const AldNode *node, const char *port)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);

        return !fabric || (port && ald_rows_find(&fabric->rdma_ports, port));
}

bool ald_planner_path_exists(const AldNode *source, const AldNode *sink, const AldRecord *record)
{
        const AldNetwork *network = ald_node_as(sink, NETWORK, AldNetwork);

        if (record->kind == ALD_KIND_LINK_RDMA) {
                const AldLinkRdma *rdma = ald_record_as(record, LINK_RDMA, AldLinkRdma);

                return has_port(source, rdma->source_port) && has_port(sink, rdma->sink_port);
        }
        return !network || ald_network_find_address(
                                   network, ald_record_as(record, LINK_SOCKET, AldLinkSocket)->sink_address);
}

/* Nothing is known about a node that has not been heard yet, or that reports no ports. */
static bool is_known(const AldEntry *entry, const AldNode *sink)
{
        return sink && (entry->kind != ALD_KIND_LINK_RDMA || (ald_node_record(entry->node, ALD_KIND_FABRIC) &&
                                                                     ald_node_record(sink, ALD_KIND_FABRIC)));
}

static bool is_obsolete(AldStore *store, const AldEntry *entry, uint64_t now, uint64_t expiry_usec)
{
        const AldNode *sink;
        AldId id;

        if (ald_key_parse(entry->kind, entry->key, &id) < 0)
                return true;
        sink = ald_store_find_node(store, &id);
        if (!is_known(entry, sink) && now > expiry_usec && entry->changed < now - expiry_usec)
                return true;
        if (!sink)
                return false;
        return !ald_planner_path_exists(entry->node, sink, entry->record);
}

/* Returns when the path was last measured, or tried. */
static uint64_t last_attempt(const AldEntry *entry)
{
        const AldLink link = ald_link_of(entry);
        uint64_t measured = link.measured_usec == ALD_ABSENT_UINT64 ? 0 : link.measured_usec;

        return link.failed_usec == ALD_ABSENT_UINT64 ? measured : MAX(measured, link.failed_usec);
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
        uint64_t x = last_attempt(*(const AldEntry *const *) a),
                 y = last_attempt(*(const AldEntry *const *) b);

        return x > y ? -1 : x < y;
}

GPtrArray *ald_planner_obsolete(AldStore *store, uint64_t now, uint64_t expiry_usec)
{
        AldNode *node = ald_store_local_node(store);
        GPtrArray *obsolete = g_ptr_array_new();
        g_autoptr(GPtrArray) kept = g_ptr_array_new();

        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry))
                if (ald_kinds[entry->kind].is_link && entry->record)
                        g_ptr_array_add(is_obsolete(store, entry, now, expiry_usec) ? obsolete : kept, entry);
        if (kept->len <= ALD_PLANNER_ROWS_MAX)
                return obsolete;
        g_ptr_array_sort(kept, newest_first);
        for (guint i = ALD_PLANNER_ROWS_MAX; i < kept->len; i++)
                g_ptr_array_add(obsolete, kept->pdata[i]);
        return obsolete;
}
