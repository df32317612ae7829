/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/clock.h"

/* Times both sides go by. */
#define ALD_TICK_NS (5 * ALD_NSEC_PER_MSEC) /* how often a transfer is looked at */
#define ALD_SPOT_TICK_NS ALD_NSEC_PER_MSEC
#define ALD_EFFORT_EVERY_NS \
        (250 * ALD_NSEC_PER_MSEC)              /* how often the sender tells of its side, by the same link */
#define ALD_SOFT_NS (1400 * ALD_NSEC_PER_MSEC) /* how long a direction usually takes at most */
#define ALD_STALL_NS (3 * ALD_NSEC_PER_SEC)    /* that nothing may come for */
#define ALD_IDLE_NS (10 * ALD_NSEC_PER_SEC)    /* that a client may say nothing for */
#define ALD_GRACE_NS (3 * ALD_NSEC_PER_SEC)    /* beyond the time agreed on */
#define ALD_TOKEN_NS (5 * ALD_NSEC_PER_SEC)    /* that a token is good for */
