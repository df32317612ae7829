/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "record/schema.h"

/* The inputs of Node1.ProbePolicy. */
typedef struct AldPolicyInput {
        bool enabled;
        const char *problem; /* why links cannot be measured although they are enabled; or NULL */
        bool hears_peers;    /* false with mirror=none */
        bool rdma;
        const char *lock;         /* the holder and the reason of a lock on link probes; or NULL */
        const char *work;         /* the work of this machine; or NULL */
        uint64_t busy_since_usec; /* since when that is on the processors only; else absent */
        bool battery, resumed, outside_hours;
        uint64_t bytes_per_hour, interval_usec; /* 0: the default */
} AldPolicyInput;

/* The record Node1.ProbePolicy with everything that it points to. */
typedef struct AldPolicy {
        AldProbePolicy fields;
        const char *starts[3];
        char *reason;
} AldPolicy;

void ald_policy_init(AldPolicy *policy, const AldPolicyInput *input);
void ald_policy_clear(AldPolicy *policy);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPolicy, ald_policy_clear)

/* Returns whether links may be loaded. */
bool ald_policy_is_full(const AldPolicy *policy);
