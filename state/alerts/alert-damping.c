/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/field.h"
#include "state/alerts/alert-damping.h"

static uint64_t end_delay(unsigned flaps)
{
        uint64_t usec = ALD_ALERT_END_USEC;

        for (; flaps > 0 && usec < ALD_ALERT_DELAY_MAX_USEC; flaps--)
                usec += usec / 2;
        return MIN(usec, ALD_ALERT_DELAY_MAX_USEC);
}

AldAlertDamping ald_alert_damping_new(uint64_t now)
{
        return (AldAlertDamping){
                .present = true, .first_usec = now, .changed_usec = now, .flapped_usec = now
        };
}

static void decay_flaps(AldAlertDamping *damping, uint64_t now)
{
        for (; damping->flaps > 0 && now - damping->flapped_usec >= ALD_ALERT_QUIET_USEC; damping->flaps--)
                damping->flapped_usec += ALD_ALERT_QUIET_USEC;
}

void ald_alert_damping_set(AldAlertDamping *damping, bool present, uint64_t now)
{
        if (present == damping->present)
                return;
        decay_flaps(damping, now);
        damping->present = present;
        damping->changed_usec = now;
        if (!present)
                return;
        damping->flaps = MIN(damping->flaps + 1, ALD_ALERT_FLAPS_MAX);
        damping->flapped_usec = now;
        if (damping->first_usec == ALD_ABSENT_UINT64)
                damping->first_usec = now;
}

void ald_alert_damping_hold(AldAlertDamping *damping)
{
        damping->present = true;
}

/* Returns when all is quiet and the last flap no longer counts against it. */
static uint64_t forget_due(const AldAlertDamping *damping)
{
        return MAX(damping->changed_usec, damping->flapped_usec + damping->flaps * ALD_ALERT_QUIET_USEC);
}

uint64_t ald_alert_damping_due(const AldAlertDamping *damping)
{
        if (damping->present && damping->begun)
                return ALD_ABSENT_UINT64;
        if (damping->present)
                return MAX(damping->first_usec + ALD_ALERT_BEGIN_USEC, damping->changed_usec);
        if (damping->first_usec != ALD_ABSENT_UINT64)
                return damping->changed_usec + end_delay(damping->flaps);
        return forget_due(damping);
}

AldAlertStep ald_alert_damping_step(AldAlertDamping *damping, uint64_t now)
{
        if (now < ald_alert_damping_due(damping) || ald_alert_damping_due(damping) == ALD_ABSENT_UINT64)
                return ALD_ALERT_NONE;
        if (damping->present) {
                damping->begun = true;
                return ALD_ALERT_BEGIN;
        }
        if (damping->first_usec == ALD_ABSENT_UINT64)
                return ALD_ALERT_FORGET;
        damping->first_usec = ALD_ABSENT_UINT64;
        if (!damping->begun)
                return now >= forget_due(damping) ? ALD_ALERT_FORGET : ALD_ALERT_NONE;
        damping->begun = false;
        return ALD_ALERT_END;
}

static void shift_time(uint64_t *at, uint64_t usec, bool forward)
{
        if (*at == ALD_ABSENT_UINT64)
                return;
        if (forward)
                *at += usec;
        else
                *at = *at > usec ? *at - usec : 0;
}

void ald_alert_damping_shift(AldAlertDamping *damping, uint64_t usec, bool forward)
{
        shift_time(&damping->first_usec, usec, forward);
        shift_time(&damping->changed_usec, usec, forward);
        shift_time(&damping->flapped_usec, usec, forward);
}
