/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/telemetry/host/cpu-set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        AldCpuSet set = {}, again;
        int r = ald_cpu_set_parse(text, &set);

        g_assert_true(r == 0 || r == -EBADMSG || r == -ERANGE);
        g_assert_true(r == 0 || ald_cpu_set_count(&set) == 0);
        again = set;
        ald_cpu_set_add(&again, &set);
        g_assert_cmpuint(ald_cpu_set_count(&again), ==, ald_cpu_set_count(&set));
        return 0;
}
