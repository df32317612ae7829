/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Decides when to act on changes that come in bursts, such as the records of all nodes after a start: once
 * they pause, so that the work for all of them is done once, but no later than ALD_BURST_USEC after the
 * first. All times are in µs of CLOCK_MONOTONIC.
 */
typedef struct AldBurst {
        gint64 pause; /* set by the owner */
        gint64 first; /* time of the first change that waits; 0: none waits */
} AldBurst;

#define ALD_BURST_USEC G_USEC_PER_SEC

/* Notes a change. Returns when to act on all waiting changes unless more come. */
gint64 ald_burst_note(AldBurst *burst, gint64 now);

/* Notes that no change waits any longer. */
void ald_burst_end(AldBurst *burst);
