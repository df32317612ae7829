/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "services/telemetry/helper/helper-side.h"
#include "services/telemetry/helper/opencl-list.h"

/* alidade-opencl-list: lists what OpenCL shows, once, apart from the daemon, since a driver may hang or
 * crash. */

/* Drivers bring compilers along. */
#define DATA_MAX (UINT64_C(4) * 1024 * 1024 * 1024)

int main(void)
{
        int answers = ald_child_side_begin(DATA_MAX), r = answers;
        AldRecord *listed = NULL;

        if (r >= 0)
                r = ald_opencl_list(&listed);
        if (r >= 0)
                r = ald_child_side_answer(answers, ALD_KIND_OPENCL_ANSWER, ald_record_fields(listed));
        /* Without the drivers' own clean-up, which may hang or crash as well. */
        _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
