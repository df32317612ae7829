/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include <glib.h>

#include "record/field.h"
#include "services/link-probe/machine/cpu-units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refused text leaves the result alone. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        uint64_t usec = 7;

        if (ald_cpu_units_parse(text, &usec))
                g_assert_cmpuint(usec, <=, ALD_INTEGER_MAX);
        else
                g_assert_cmpuint(usec, ==, 7);
        return 0;
}
