/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/back-off.h"
#include "services/common/timer.h"

struct AldBackOff {
        const AldBackOffDelays *delays;
        AldTimer *timer;
        gint64 next_usec;
        gint64 works_since; /* CLOCK_MONOTONIC; 0: it does not work */
        void (*again)(void *userdata);
        void *userdata;
};

static void on_timer(void *userdata)
{
        AldBackOff *back_off = userdata;

        back_off->again(back_off->userdata);
}

AldBackOff *ald_back_off_new(
        const char *name, const AldBackOffDelays *delays, void (*again)(void *userdata), void *userdata)
{
        AldBackOff *back_off = g_new0(AldBackOff, 1);

        back_off->delays = delays;
        back_off->next_usec = delays->first_usec;
        back_off->again = again;
        back_off->userdata = userdata;
        back_off->timer = ald_timer_new(name, on_timer, back_off);
        return back_off;
}

void ald_back_off_free(AldBackOff *back_off)
{
        if (!back_off)
                return;
        ald_timer_free(back_off->timer);
        g_free(back_off);
}

void ald_back_off_failed(AldBackOff *back_off)
{
        const AldBackOffDelays *delays = back_off->delays;
        gint64 now = g_get_monotonic_time();

        if (back_off->works_since != 0 && now - back_off->works_since > delays->most_usec)
                back_off->next_usec = delays->first_usec;
        back_off->works_since = 0;
        ald_timer_set(back_off->timer, now + back_off->next_usec);
        back_off->next_usec = CLAMP(2 * back_off->next_usec, delays->least_usec, delays->most_usec);
}

void ald_back_off_works(AldBackOff *back_off)
{
        back_off->works_since = g_get_monotonic_time();
        ald_back_off_cancel(back_off);
}

void ald_back_off_cancel(AldBackOff *back_off)
{
        ald_timer_set(back_off->timer, ALD_TIMER_NEVER);
}
