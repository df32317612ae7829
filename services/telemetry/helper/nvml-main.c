/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/message.h"
#include "services/telemetry/helper/helper-side.h"
#include "services/telemetry/helper/nvml-api.h"
#include "services/telemetry/helper/nvml-read.h"

/* alidade-nvml: asks NVIDIA's library, apart from the daemon, since a driver may hang or crash. */

#define DATA_MAX (UINT64_C(512) * 1024 * 1024)
#define REQUEST_MAX 8192u

/* Without the library's own clean-up, which may hang as well. What drivers write need not be UTF-8. */
static void finish(int answers, const char *error)
{
        AldNvmlAnswer answer = ALD_NVML_ANSWER_INIT;
        char reason[ALD_MESSAGE_STRING_MAX];

        snprintf(reason, sizeof reason, "%s", error);
        answer.error = g_utf8_validate(reason, -1, NULL) ? reason : "the driver gives no readable reason";
        (void) ald_child_side_answer(answers, ALD_KIND_NVML_ANSWER, &answer);
        _exit(EXIT_FAILURE);
}

static int answer(int answers, const AldNvml *nvml, const char *request, size_t length)
{
        g_autoptr(AldRecord) asked = NULL, answered = NULL;
        int r;

        r = ald_message_parse(ALD_KIND_NVML_REQUEST, request, length, REQUEST_MAX, &asked, NULL);
        if (r >= 0)
                r = ald_nvml_read(nvml, ald_record_as(asked, NVML_REQUEST, AldNvmlRequest)->ids, &answered);
        return r < 0 ? r : ald_child_side_answer(answers, ALD_KIND_NVML_ANSWER, ald_record_fields(answered));
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
                finish(answers, reason);
        result = ald_nvml_init(&nvml);
        if (result != ALD_NVML_SUCCESS) {
                g_autofree char *error = g_strdup_printf(
                        "NVML: %s (error %d)", ald_nvml_explain(&nvml, result), result);

                finish(answers, error);
        }

        do
                if (answer(answers, &nvml, request, (size_t) length) < 0)
                        _exit(EXIT_FAILURE);
        while ((length = ald_child_side_request(request, sizeof request)) > 0);
        _exit(EXIT_SUCCESS);
}
