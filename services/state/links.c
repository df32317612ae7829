/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/links.h"
#include "record/key.h"
#include "services/common/service.h"
#include "state/link-result.h"

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

/* Its row was deleted, or is about to be. */
static bool path_is_gone(AldStore *store, const char *key, const AldRecord *reported)
{
        const AldNode *sink;
        AldId id;

        if (ald_key_parse(reported->kind, key, &id) < 0)
                return true;
        sink = ald_store_find_node(store, &id);
        return sink && !ald_planner_path_exists(ald_store_local_node(store), sink, reported);
}

static AldPlannerInput input_now(AldStateManager *manager)
{
        return (AldPlannerInput){
                .now = now_usec(),
                .now_realtime = ald_realtime_usec(),
                .started = ald_state_manager_started(manager),
        };
}

/* Of RDMA the interval is always the same; of what was said before none is needed. */
static AldTtlBounds bounds_of(AldStateManager *manager, const AldRecord *before, const AldRecord *reported)
{
        const AldPlannerInput input = input_now(manager);

        if (!ald_link_result_is_new(before, reported))
                return ALD_TTL_BOUNDS_NONE;
        return reported->kind == ALD_KIND_LINK_SOCKET
                       ? ald_planner_bounds(ald_state_manager_store(manager), &input, reported)
                       : (AldTtlBounds){ ald_planner_ttl(reported->kind), ald_planner_ttl(reported->kind) };
}

void ald_links_take(AldStateManager *manager, AldRecord *reported)
{
        AldStore *store = ald_state_manager_store(manager);
        g_autofree char *key = ald_link_result_key(reported);
        g_autoptr(AldRecord) merged = NULL;
        AldRecord *before;
        AldTtlBounds bounds;
        AldEntry *entry;

        if (!key) {
                g_warning("Dropping the result of a link that names no sink, or no address or ports");
                return;
        }
        if (path_is_gone(store, key, reported))
                return;
        entry = ald_store_find(store, &ald_store_local_node(store)->id, reported->kind, key);
        before = entry ? entry->record : NULL;
        bounds = bounds_of(manager, before, reported);
        merged = ald_link_result_merge(before, reported, &bounds);
        /* What is said again is no new result, and the age of a row is that of its figures. */
        if (!before || before->hash != merged->hash)
                ald_state_manager_put_local(manager, reported->kind, key, merged);
}

void ald_links_prune(AldStateManager *manager)
{
        AldStore *store = ald_state_manager_store(manager);
        uint64_t now = now_usec();
        g_autoptr(GPtrArray) entries = ald_planner_obsolete(store, now, ald_state_manager_expiry(manager));

        for (guint i = 0; i < entries->len; i++) {
                const AldEntry *entry = entries->pdata[i];

                ald_store_put_local(store, entry->kind, entry->key, NULL, ald_realtime_usec(), now);
        }
}

GArray *ald_links_due(AldStateManager *manager, AldPlannerInput *input)
{
        const AldPlannerInput now = input_now(manager);

        ald_links_prune(manager);
        input->now = now.now;
        input->now_realtime = now.now_realtime;
        input->started = now.started;
        return ald_planner_compute(ald_state_manager_store(manager), input);
}
