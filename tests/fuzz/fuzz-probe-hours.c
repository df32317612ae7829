/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include <glib.h>

#include "services/link-probe/machine/probe-hours.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is taken has minutes of a day, and an hour of each day is in some range or none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        g_auto(GStrv) list = g_strsplit(text, ";", -1);
        AldProbeHours hours;

        if (ald_probe_hours_refuse(text))
                return 0;
        g_assert_cmpint(ald_probe_hours_parse((const char *const *) list, &hours), ==, 0);
        g_assert_cmpuint(hours.n, <=, ALD_PROBE_HOURS_MAX);
        for (unsigned i = 0; i < hours.n; i++) {
                g_assert_cmpuint(hours.ranges[i].from, <, 24 * 60);
                g_assert_cmpuint(hours.ranges[i].to, <=, 24 * 60);
                g_assert_true(ald_probe_hours_contain(&hours, hours.ranges[i].from));
        }
        return 0;
}
