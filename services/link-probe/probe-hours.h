/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* When links may be loaded, of the day in local time: "22:00-06:00;12:00-13:00". No range: always. */
#define ALD_PROBE_HOURS_MAX 16u

typedef struct AldProbeHours {
        unsigned n;
        struct {
                unsigned from, to; /* minutes since midnight; a range may lead over midnight */
        } ranges[ALD_PROBE_HOURS_MAX];
} AldProbeHours;

/* -EINVAL for what is no list of ranges, -E2BIG for too many. */
int ald_probe_hours_parse(const char *const *list, AldProbeHours *ret);

/* Why the text is not a list of ranges separated by semicolons; NULL if it is one. */
const char *ald_probe_hours_refuse(const char *text);

bool ald_probe_hours_contain(const AldProbeHours *hours, unsigned minute);
