/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* The extent of a probe of a link; each scope includes the following ones. */
typedef enum AldLinkScope {
        ALD_LINK_SCOPE_FULL,        /* the rates of both directions */
        ALD_LINK_SCOPE_CHECK,       /* a burst of about 10 ms each way, to compare with the previous one */
        ALD_LINK_SCOPE_ROUND_TRIPS, /* round trips only, which load nothing */
        ALD_LINK_SCOPE_N,
} AldLinkScope;

const char *ald_link_scope_to_string(AldLinkScope scope);
/* Returns -EINVAL if the word is unknown. */
int ald_link_scope_from_string(const char *word);

/* Node1.ProbePolicy of a node. A node without this record starts all probes and allows all probes. */

/* Returns whether it starts probes of links of this kind automatically. */
bool ald_probe_policy_starts(const AldNode *node, AldKind kind);

/* Returns whether its links may be probed with this scope now. */
bool ald_probe_policy_allows(const AldNode *node, AldLinkScope scope);

/* How long the first measurement of a path or device waits for programs that use the processors. */
#define ALD_PROBE_FIRST_WAIT_USEC (UINT64_C(24) * 3600 * 1000 * 1000)

/* Returns whether a first measurement has waited that long; `since` may be absent. Both are CLOCK_REALTIME.
 */
bool ald_probe_first_has_waited(uint64_t since_usec, uint64_t now_realtime);

/* Returns whether a path without any rate may be measured at full rate for that reason, although nothing else
 * may load the links of the node. */
bool ald_probe_policy_allows_first(const AldNode *node, uint64_t now_realtime);

/* Returns why its links may not be probed with every scope now; NULL if they may, or if the node gives no
 * reason. */
const char *ald_probe_policy_reason(const AldNode *node);

/* Return what probes may transfer over its links, in bytes per hour, and the fixed interval between full
 * measurements, in µs; 0 if not set. */
uint64_t ald_probe_policy_bytes_per_hour(const AldNode *node);
uint64_t ald_probe_policy_interval(const AldNode *node);

/* Returns the word for a kind of link in Starts. */
const char *ald_probe_policy_word(AldKind kind);
