/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "state/link/probe-policy.h"

static const char *const scopes[ALD_LINK_SCOPE_N] = {
        [ALD_LINK_SCOPE_FULL] = "full",
        [ALD_LINK_SCOPE_CHECK] = "check",
        [ALD_LINK_SCOPE_ROUND_TRIPS] = "round-trips",
};

const char *ald_link_scope_to_string(AldLinkScope scope)
{
        return scopes[scope];
}

int ald_link_scope_from_string(const char *word)
{
        for (int i = 0; i < ALD_LINK_SCOPE_N; i++)
                if (g_strcmp0(scopes[i], word) == 0)
                        return i;
        return -EINVAL;
}

const char *ald_probe_policy_word(AldKind kind)
{
        return kind == ALD_KIND_LINK_RDMA ? "rdma" : "socket";
}

static const AldProbePolicy *policy_of(const AldNode *node)
{
        return ald_node_as(node, PROBE_POLICY, AldProbePolicy);
}

bool ald_probe_policy_starts(const AldNode *node, AldKind kind)
{
        const AldProbePolicy *policy = policy_of(node);

        return !policy || (policy->starts && g_strv_contains(policy->starts, ald_probe_policy_word(kind)));
}

bool ald_probe_policy_allows(const AldNode *node, AldLinkScope scope)
{
        const AldProbePolicy *policy = policy_of(node);

        if (!policy || !policy->links ||
                g_str_equal(policy->links, ald_probe_policy_links_to_string(ALD_PROBE_POLICY_LINKS_FULL)))
                return true;
        return scope == ALD_LINK_SCOPE_ROUND_TRIPS &&
               g_str_equal(
                       policy->links, ald_probe_policy_links_to_string(ALD_PROBE_POLICY_LINKS_ROUND_TRIPS));
}

bool ald_probe_first_has_waited(uint64_t since_usec, uint64_t now_realtime)
{
        return since_usec <= now_realtime && now_realtime - since_usec >= ALD_PROBE_FIRST_WAIT_USEC;
}

bool ald_probe_policy_allows_first(const AldNode *node, uint64_t now_realtime)
{
        const AldProbePolicy *policy = policy_of(node);

        return policy && ald_probe_first_has_waited(policy->busy_since_usec, now_realtime) &&
               ald_probe_policy_allows(node, ALD_LINK_SCOPE_ROUND_TRIPS);
}

const char *ald_probe_policy_reason(const AldNode *node)
{
        const AldProbePolicy *policy = policy_of(node);

        return policy ? policy->reason : NULL;
}

uint64_t ald_probe_policy_bytes_per_hour(const AldNode *node)
{
        const AldProbePolicy *policy = policy_of(node);

        return policy && policy->bytes_per_hour != ALD_ABSENT_UINT64 ? policy->bytes_per_hour : 0;
}

uint64_t ald_probe_policy_interval(const AldNode *node)
{
        const AldProbePolicy *policy = policy_of(node);

        return policy && policy->interval_usec != ALD_ABSENT_UINT64 ? policy->interval_usec : 0;
}
