/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/placement/idle.h"
#include "services/common/timer.h"

#define IDLE_SECONDS 60
#define IDLE_SECONDS_MAX 86400u

struct AldIdle {
        AldService *service;
        AldTimer *timer;
        gint64 usec; /* time without work before it leaves the bus */
        bool is_idle;
        bool is_leaving; /* it is releasing its name */
        bool has_left;   /* the name is released, so no further call can arrive */
};

void ald_idle_begin(AldIdle *idle)
{
        idle->is_idle = true;
        if (idle->has_left)
                ald_service_quit(idle->service, 0, "Nothing to do");
        else if (!idle->is_leaving)
                ald_timer_set(idle->timer, g_get_monotonic_time() + idle->usec);
}

void ald_idle_end(AldIdle *idle)
{
        idle->is_idle = false;
        ald_timer_set(idle->timer, ALD_TIMER_NEVER);
}

static void on_left(void *userdata)
{
        AldIdle *idle = userdata;

        idle->has_left = true;
        if (idle->is_idle)
                ald_idle_begin(idle);
}

/* Leaves the bus. Calls that arrive before the name is released are still served. */
static void on_timer(void *userdata)
{
        AldIdle *idle = userdata;

        idle->is_leaving = true;
        ald_service_release_name(idle->service, on_left, idle);
}

static gint64 find_idle_usec(void)
{
        const char *text = g_getenv("ALIDADE_IDLE_SECONDS");
        guint64 seconds = IDLE_SECONDS;

        if (text && !g_ascii_string_to_unsigned(text, 10, 0, IDLE_SECONDS_MAX, &seconds, NULL))
                g_warning("ALIDADE_IDLE_SECONDS is not a number of seconds: %s", text);
        return (gint64) seconds * G_USEC_PER_SEC;
}

AldIdle *ald_idle_new(AldService *service)
{
        AldIdle *idle = g_new0(AldIdle, 1);

        idle->service = service;
        idle->usec = find_idle_usec();
        idle->timer = ald_timer_new("idle", on_timer, idle);
        ald_idle_begin(idle);
        return idle;
}

void ald_idle_free(AldIdle *idle)
{
        if (!idle)
                return;
        ald_timer_free(idle->timer);
        g_free(idle);
}
