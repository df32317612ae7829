/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Decides when an alert begins and ends if its finding comes and goes. Times are CLOCK_REALTIME in µs.
 *
 * An alert begins ALD_ALERT_BEGIN_USEC after its finding came, and ends once the finding has been gone for
 * ALD_ALERT_END_USEC; a shorter gap does not count. Each return of the finding, a flap, multiplies the latter
 * by 1.5 up to ALD_ALERT_DELAY_MAX_USEC; each ALD_ALERT_QUIET_USEC without a flap divides it by 1.5 again. So
 * a link that goes up and down with gaps of G causes two notices for each power of 1.5 between
 * ALD_ALERT_END_USEC and G, and then none until it rests. The first delay stays as it is, since a link that
 * never rests must be reported too.
 */
#define ALD_ALERT_BEGIN_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_ALERT_END_USEC (UINT64_C(300) * 1000 * 1000)
#define ALD_ALERT_DELAY_MAX_USEC (UINT64_C(3600) * 1000 * 1000)
#define ALD_ALERT_QUIET_USEC ALD_ALERT_DELAY_MAX_USEC
#define ALD_ALERT_FLAPS_MAX 7u /* more do not lengthen the delay */

typedef struct AldAlertDamping {
        bool present;          /* the finding exists */
        bool begun;            /* the alert has begun and not ended */
        uint64_t first_usec;   /* when the finding came; absent after a gap that counts */
        uint64_t changed_usec; /* when it last came or went */
        uint64_t flapped_usec; /* when it last flapped; moves on by each quiet time that was counted */
        unsigned flaps;        /* flaps less quiet times */
} AldAlertDamping;

typedef enum AldAlertStep {
        ALD_ALERT_NONE,
        ALD_ALERT_BEGIN,
        ALD_ALERT_END,
        ALD_ALERT_FORGET, /* nothing is left to remember */
} AldAlertStep;

/* Returns the damping of a finding that comes now. */
AldAlertDamping ald_alert_damping_new(uint64_t now);

/* Sets whether the finding exists now. */
void ald_alert_damping_set(AldAlertDamping *damping, bool present, uint64_t now);

/* Treats the finding as present while it is unknown whether it exists, without counting a flap. */
void ald_alert_damping_hold(AldAlertDamping *damping);

/* Takes a step that is due. Call it until nothing is due. */
AldAlertStep ald_alert_damping_step(AldAlertDamping *damping, uint64_t now);

/* Returns when something will be due unless the finding changes; absent if nothing will. */
uint64_t ald_alert_damping_due(const AldAlertDamping *damping);

/* Keeps all durations after the clock was set back by this much, or forward. */
void ald_alert_damping_shift(AldAlertDamping *damping, uint64_t usec, bool forward);
