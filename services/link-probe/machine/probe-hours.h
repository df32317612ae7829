/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The hours of the day, in local time, at which links may be loaded: "22:00-06:00;12:00-13:00". An empty list
 * means always. */
#define ALD_PROBE_HOURS_MAX 16u

typedef struct AldProbeHours {
        unsigned n;
        struct {
                unsigned from, to; /* minutes since midnight; a range may include midnight */
        } ranges[ALD_PROBE_HOURS_MAX];
} AldProbeHours;

/* A list that contains no minute of the day. */
#define ALD_PROBE_HOURS_NEVER                        \
        (AldProbeHours)                              \
        {                                            \
                .n = 1, .ranges = { { 24 * 60, 0 } } \
        }

/* Parses a list of ranges; -EINVAL if it is malformed, -E2BIG if there are too many ranges. */
int ald_probe_hours_parse(const char *const *list, AldProbeHours *ret);

/* Returns why the text is not a list of ranges separated by semicolons; NULL if it is one. */
const char *ald_probe_hours_refuse(const char *text);

bool ald_probe_hours_contain(const AldProbeHours *hours, unsigned minute);
