/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * When to act on changes that come in bursts, such as the records of all nodes after a start: once they
 * pause, so that work which each of them would cause is done once, but no later than ALD_BURST_USEC after the
 * first. All times are in µs of CLOCK_MONOTONIC.
 */
typedef struct AldBurst {
        gint64 pause; /* set by the owner */
        gint64 first; /* when the first change came that waits; 0: none waits */
} AldBurst;

#define ALD_BURST_USEC G_USEC_PER_SEC

/* Notes a change, and returns when to act on all that wait unless more come. */
gint64 ald_burst_note(AldBurst *burst, gint64 now);

/* No change waits any longer. */
void ald_burst_end(AldBurst *burst);
