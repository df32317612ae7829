/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/probed.h"
#include "services/common/service.h"
#include "state/results/link-result.h"

static void set_times(const AldStateManager *manager, AldPlannerInput *input)
{
        input->now = (uint64_t) g_get_monotonic_time();
        input->now_realtime = ald_realtime_usec();
        input->started = ald_state_manager_started(manager);
}

void ald_probed_merge(AldStateManager *manager, AldRecord *reported)
{
        AldStore *store = ald_state_manager_store(manager);
        g_autofree char *key = ald_kinds[reported->kind].is_link ? ald_link_result_key(reported)
                                                                 : g_strdup("");
        g_autoptr(AldRecord) merged = NULL;
        AldPlannerInput input = { 0 };
        AldRecord *before;
        AldEntry *entry;

        if (!key) {
                g_warning("Dropping the result of a link that names no sink, or no address or ports");
                return;
        }
        set_times(manager, &input);
        entry = ald_store_find(store, &ald_store_local_node(store)->id, reported->kind, key);
        before = entry ? entry->record : NULL;
        merged = ald_probed_kind(reported->kind)->merge(store, &input, before, reported);
        /* A repeated report is not a new result, and the age of a row is the age of its figures. */
        if (merged && (!before || before->hash != merged->hash))
                ald_state_manager_put_local(manager, reported->kind, key, merged);
}

static bool is_wanted(const AldProbedKind *probed, const AldPlannerInput *input)
{
        for (unsigned i = 0; i < ALD_N_KINDS; i++)
                if (probed->kinds[i] && !input->without[i])
                        return true;
        return false;
}

GArray *ald_probed_due(AldStateManager *manager, AldPlannerInput *input)
{
        GArray *probes = g_array_new(FALSE, FALSE, sizeof(AldDueProbe));
        AldStore *store = ald_state_manager_store(manager);
        size_t max = input->max;

        set_times(manager, input);
        /* The due probes point into records, so no record may be replaced after they were found. */
        for (const AldProbedKind *const *probed = ald_probed_kinds; *probed; probed++)
                if (is_wanted(*probed, input))
                        (*probed)->prune(store, input, ald_state_manager_expiry(manager));
        for (const AldProbedKind *const *probed = ald_probed_kinds; *probed; probed++) {
                g_autoptr(GArray) due = NULL;

                if (!is_wanted(*probed, input))
                        continue;
                input->max = max - probes->len;
                due = (*probed)->due(store, input);
                g_array_append_vals(probes, due->data, due->len);
        }
        return probes;
}
