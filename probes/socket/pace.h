/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/clock.h"

/* Times both sides go by. */
#define ALD_TICK_NS (5 * ALD_NSEC_PER_MSEC) /* how often a transfer is looked at */
#define ALD_FINE_TICK_NS ALD_NSEC_PER_MSEC  /* the same by its receiver where single segments count */
#define ALD_FINE_TICK_RATE 1e9              /* bits/s up to which they do */
#define ALD_FAST_NS (5 * ALD_NSEC_PER_SEC)  /* that a direction takes at most, but for slow links */
#define ALD_SPOT_TICK_NS ALD_NSEC_PER_MSEC
#define ALD_EFFORT_EVERY_NS \
        (250 * ALD_NSEC_PER_MSEC)         /* how often the sender reports its side, over the same link */
#define ALD_EFFORT_BYTES UINT64_C(400000) /* moved in between, so that it takes little of a slow link */
#define ALD_EFFORT_RARELY_NS (15 * ALD_NSEC_PER_SEC) /* as often even where less was moved */
#define ALD_SOFT_NS (1400 * ALD_NSEC_PER_MSEC)       /* how long a direction usually takes at most */
#define ALD_STALL_NS (3 * ALD_NSEC_PER_SEC)          /* that nothing may come for */
#define ALD_IDLE_NS (10 * ALD_NSEC_PER_SEC)          /* for which a client may be silent */
#define ALD_GRACE_NS (3 * ALD_NSEC_PER_SEC)          /* beyond the time agreed on */
#define ALD_TOKEN_NS (5 * ALD_NSEC_PER_SEC)          /* that a token is good for */
