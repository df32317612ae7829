/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "services/telemetry/child-side.h"
#include "services/telemetry/nvml-api.h"
#include "services/telemetry/nvml-read.h"

/* alidade-nvml: asks NVIDIA's library, apart from the daemon, since a driver may hang or crash. */

#define DATA_MAX (UINT64_C(512) * 1024 * 1024)
#define REQUEST_MAX 8192u

/* Without the library's own clean-up, which may hang as well. */
static void finish(int answers, json_t *error)
{
        (void) ald_child_side_answer(answers, error);
        _exit(EXIT_FAILURE);
}

int main(void)
{
        int answers = ald_child_side_begin(DATA_MAX), result;
        char request[REQUEST_MAX];
        const char *reason;
        ssize_t length;
        AldNvml nvml;

        if (answers < 0)
                return EXIT_FAILURE;
        /* Loading comes after the first request, within whose deadline it falls. */
        length = ald_child_side_request(request, sizeof request);
        if (length <= 0)
                return EXIT_SUCCESS;
        reason = ald_nvml_load(&nvml);
        if (reason)
                finish(answers, ald_child_side_error("%s", reason));
        result = ald_nvml_init(&nvml);
        if (result != ALD_NVML_SUCCESS)
                finish(answers,
                        ald_child_side_error("NVML: %s (error %d)", ald_nvml_explain(&nvml, result), result));

        do
                if (ald_child_side_answer(answers, ald_nvml_answer(&nvml, request, (size_t) length)) < 0)
                        _exit(EXIT_FAILURE);
        while ((length = ald_child_side_request(request, sizeof request)) > 0);
        _exit(EXIT_SUCCESS);
}
