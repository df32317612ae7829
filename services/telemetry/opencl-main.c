/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "services/telemetry/child-side.h"
#include "services/telemetry/opencl-list.h"

/* alidade-opencl-list: asks OpenCL once what there is, apart from the daemon, since a driver may hang or
 * crash. */

/* Drivers bring compilers along. */
#define DATA_MAX (UINT64_C(4) * 1024 * 1024 * 1024)

int main(void)
{
        int answers = ald_child_side_begin(DATA_MAX);

        /* Without the drivers' own clean-up, which may hang or crash as well. */
        if (answers < 0 || ald_child_side_answer(answers, ald_opencl_list()) < 0)
                _exit(EXIT_FAILURE);
        _exit(EXIT_SUCCESS);
}
