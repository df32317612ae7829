/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link/link.h"
#include "state/planner/probed-kinds.h"
#include "state/results/link-result.h"

/* Returns the bounds of the interval. It is always the same over RDMA, and a repeated report needs none. */
static AldTtlBounds bounds_of(
        AldStore *store, const AldPlannerInput *input, const AldRecord *before, const AldRecord *reported)
{
        if (!ald_link_result_is_new(before, reported))
                return ALD_TTL_BOUNDS_NONE;
        return reported->kind == ALD_KIND_LINK_SOCKET
                       ? ald_planner_bounds(store, input, reported)
                       : (AldTtlBounds){ ald_kind_ttl(reported->kind), ald_kind_ttl(reported->kind) };
}

static AldRecord *links_merge(
        AldStore *store, const AldPlannerInput *input, AldRecord *before, AldRecord *reported)
{
        const AldLink link = ald_link_of_record(reported);
        const AldNode *sink = ald_store_find_node(store, &link.sink);
        AldTtlBounds bounds;

        /* The row of a path that no longer exists was deleted, or is about to be. */
        if (sink && !ald_planner_path_exists(ald_store_local_node(store), sink, reported))
                return NULL;
        bounds = bounds_of(store, input, before, reported);
        return ald_link_result_merge(before, reported, &bounds);
}

/* The deletions are published to the other nodes. */
static void links_prune(AldStore *store, const AldPlannerInput *input, uint64_t expiry_usec)
{
        g_autoptr(GPtrArray) entries = ald_planner_obsolete(store, input->now, expiry_usec);

        for (guint i = 0; i < entries->len; i++) {
                const AldEntry *entry = entries->pdata[i];

                ald_store_put_local(store, entry->kind, entry->key, NULL, input->now_realtime, input->now);
        }
}

const AldProbedKind ald_probed_links = {
        .kinds = { [ALD_KIND_LINK_SOCKET] = true, [ALD_KIND_LINK_RDMA] = true },
        .due = ald_planner_compute,
        .merge = links_merge,
        .prune = links_prune,
};
