/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/probe-clock.h"

/* Times that both sides use. */
#define ALD_TICK_NS (5 * ALD_NSEC_PER_MSEC) /* interval at which a transfer is checked */
#define ALD_FINE_TICK_NS ALD_NSEC_PER_MSEC  /* the same for its receiver while single segments matter */
#define ALD_FINE_TICK_RATE 1e9              /* bits/s up to which they do */
#define ALD_FAST_NS (5 * ALD_NSEC_PER_SEC)  /* most time for a direction, except on slow links */
#define ALD_SPOT_CHECK_TICK_NS ALD_NSEC_PER_MSEC
#define ALD_EFFORT_EVERY_NS \
        (250 * ALD_NSEC_PER_MSEC) /* interval at which the sender reports its effort, over the same link */
#define ALD_EFFORT_BYTES UINT64_C(400000)            /* least data between two reports, to save a slow link */
#define ALD_EFFORT_RARELY_NS (15 * ALD_NSEC_PER_SEC) /* interval if less was moved */
#define ALD_SOFT_NS (1400 * ALD_NSEC_PER_MSEC)       /* usual limit for a direction */
#define ALD_STALL_NS (3 * ALD_NSEC_PER_SEC)          /* longest time in which nothing arrives */
#define ALD_IDLE_NS (10 * ALD_NSEC_PER_SEC)          /* longest silence of a client */
#define ALD_GRACE_NS (3 * ALD_NSEC_PER_SEC)          /* beyond the agreed time */
#define ALD_TOKEN_NS (5 * ALD_NSEC_PER_SEC)          /* validity of a token */
