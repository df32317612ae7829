/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/timer.h"

struct AldTimer {
        GSource source;
        gint64 due_usec;
        void (*expired)(void *userdata);
        void *userdata;
};

/* Rounds the timeout up, since otherwise the loop would spin through the last millisecond. */
static gboolean timer_prepare(GSource *source, gint *timeout)
{
        const AldTimer *timer = (const AldTimer *) source;
        gint64 left;

        *timeout = -1;
        if (timer->due_usec == ALD_TIMER_NEVER)
                return FALSE;
        left = timer->due_usec - g_get_monotonic_time();
        *timeout = left <= 0 ? 0 : (gint) MIN((left - 1) / 1000 + 1, G_MAXINT);
        return left <= 0;
}

static gboolean timer_check(GSource *source)
{
        const AldTimer *timer = (const AldTimer *) source;

        return timer->due_usec != ALD_TIMER_NEVER && timer->due_usec <= g_get_monotonic_time();
}

static gboolean timer_dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
        AldTimer *timer = (AldTimer *) source;

        timer->due_usec = ALD_TIMER_NEVER;
        timer->expired(timer->userdata);
        return G_SOURCE_CONTINUE;
}

AldTimer *ald_timer_new(const char *name, void (*expired)(void *userdata), void *userdata)
{
        static GSourceFuncs funcs = { timer_prepare, timer_check, timer_dispatch, NULL, NULL, NULL };
        AldTimer *timer = (AldTimer *) g_source_new(&funcs, sizeof(AldTimer));

        timer->due_usec = ALD_TIMER_NEVER;
        timer->expired = expired;
        timer->userdata = userdata;
        g_source_set_static_name(&timer->source, name);
        g_source_attach(&timer->source, NULL);
        return timer;
}

void ald_timer_free(AldTimer *timer)
{
        if (!timer)
                return;
        g_source_destroy(&timer->source);
        g_source_unref(&timer->source);
}

void ald_timer_set(AldTimer *timer, gint64 due_usec)
{
        timer->due_usec = due_usec;
}
