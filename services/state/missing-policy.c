/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/missing-policy.h"
#include "services/common/service.h"
#include "services/common/timer.h"

/* This is longer than a restart of the service takes. */
#define WAIT_USEC (10 * G_USEC_PER_SEC)

struct AldMissingPolicy {
        AldStateManager *manager;
        AldTimer *timer;
};

void ald_missing_policy_begin(AldMissingPolicy *missing)
{
        ald_timer_set(missing->timer, g_get_monotonic_time() + WAIT_USEC);
}

void ald_missing_policy_end(AldMissingPolicy *missing)
{
        ald_timer_set(missing->timer, ALD_TIMER_NEVER);
}

static void on_timer(void *userdata)
{
        AldMissingPolicy *missing = userdata;
        AldProbePolicy policy = ALD_PROBE_POLICY_INIT;
        g_autoptr(AldRecord) record = NULL;

        /* Other nodes do not know a node without any record. */
        if (!ald_node_after(ald_store_local_node(ald_state_manager_store(missing->manager)), NULL)) {
                ald_missing_policy_begin(missing);
                return;
        }
        policy.links = ald_probe_policy_links_to_string(ALD_PROBE_POLICY_LINKS_ROUND_TRIPS);
        policy.reason = "unable: alidade-link-probed is not running";
        if (ald_record_new(ALD_KIND_PROBE_POLICY, &policy, &record) >= 0) {
                record->updated_usec = ald_realtime_usec();
                ald_state_manager_put_local(missing->manager, ALD_KIND_PROBE_POLICY, "", record);
        }
}

AldMissingPolicy *ald_missing_policy_new(AldStateManager *manager)
{
        AldMissingPolicy *missing = g_new(AldMissingPolicy, 1);

        missing->manager = manager;
        missing->timer = ald_timer_new("missing-policy", on_timer, missing);
        return missing;
}

void ald_missing_policy_free(AldMissingPolicy *missing)
{
        if (!missing)
                return;
        ald_timer_free(missing->timer);
        g_free(missing);
}
