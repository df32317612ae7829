/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/link/policy.h"
#include "state/link/probe-policy.h"

static char *join_reason(const char *word, const char *more)
{
        return more ? g_strdup_printf("%s: %s", word, more) : g_strdup(word);
}

/* Returns why links are not measured at all, or NULL. */
static char *why_none(const AldPolicyInput *input)
{
        if (!input->enabled)
                return g_strdup("disabled");
        if (input->problem)
                return join_reason("unable", input->problem);
        return input->lock ? join_reason("inhibited", input->lock) : NULL;
}

/* Returns why links must not be loaded, or NULL. */
static char *why_not_full(const AldPolicyInput *input)
{
        if (input->work)
                return join_reason("work", input->work);
        if (input->battery)
                return g_strdup("battery");
        if (input->resumed)
                return g_strdup("resumed");
        return input->outside_hours ? join_reason("hours", "outside probe-hours=") : NULL;
}

static uint64_t zero_to_absent(uint64_t value)
{
        return value > 0 ? value : ALD_ABSENT_UINT64;
}

void ald_policy_init(AldPolicy *policy, const AldPolicyInput *input)
{
        char *none = why_none(input);
        AldProbePolicyLinks links = ALD_PROBE_POLICY_LINKS_NONE;
        unsigned n = 0;

        *policy = (AldPolicy){ .fields = ALD_PROBE_POLICY_INIT, .reason = none };
        if (!none) {
                policy->reason = why_not_full(input);
                links = policy->reason ? ALD_PROBE_POLICY_LINKS_ROUND_TRIPS : ALD_PROBE_POLICY_LINKS_FULL;
        }
        if (input->enabled && !input->problem && input->hears_peers) {
                policy->starts[n++] = ald_probe_policy_word(ALD_KIND_LINK_SOCKET);
                if (input->rdma)
                        policy->starts[n++] = ald_probe_policy_word(ALD_KIND_LINK_RDMA);
        }
        if (!none && input->work && !input->battery && !input->resumed && !input->outside_hours)
                policy->fields.busy_since_usec = input->busy_since_usec;
        policy->fields.starts = policy->starts;
        policy->fields.links = ald_probe_policy_links_to_string(links);
        policy->fields.reason = policy->reason;
        policy->fields.bytes_per_hour = zero_to_absent(input->bytes_per_hour);
        policy->fields.interval_usec = zero_to_absent(input->interval_usec);
}

void ald_policy_clear(AldPolicy *policy)
{
        g_clear_pointer(&policy->reason, g_free);
}

bool ald_policy_is_full(const AldPolicy *policy)
{
        return g_str_equal(
                policy->fields.links, ald_probe_policy_links_to_string(ALD_PROBE_POLICY_LINKS_FULL));
}
