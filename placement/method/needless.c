/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/method/needless.h"
#include "record/figure-text.h"

char *ald_plan_duration_text(double nsec)
{
        g_autofree char *size = ald_format_figure(&ald_unit_nanoseconds, fabs(nsec));

        return g_strconcat(nsec < 0 ? "-" : "", size, NULL);
}

char *ald_plan_say_needless(const AldPlanVerdict *verdict)
{
        g_autofree char *costs = ald_plan_duration_text(verdict->costs_nsec);
        g_autofree char *saves = ald_plan_duration_text(verdict->saves_nsec);

        if (isnan(verdict->saves_nsec) || isnan(verdict->costs_nsec))
                return g_strdup("It would not give more tokens per second.");
        if (verdict->saves_nsec <= 0 && verdict->costs_nsec <= 0)
                return g_strdup("It is slower than the devices of the plan.");
        if (verdict->saves_nsec <= 0)
                return g_strdup_printf(
                        "It is slower than the devices of the plan, and its transfers would cost %s.", costs);
        return g_strdup_printf("Its transfers would cost %s, and its layers save %s.", costs, saves);
}
