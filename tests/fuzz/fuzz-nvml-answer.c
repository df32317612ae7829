/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdint.h>

#include "services/telemetry/nvml-answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const AldNvmlDevice *device)
{
        const AldDevice *figures = &device->figures;

        g_assert_true(device->id && *device->id && g_utf8_validate(device->id, -1, NULL));
        g_assert_true(isnan(figures->usage) || (figures->usage >= 0 && figures->usage <= 100));
        g_assert_true(figures->memory_used_bytes == ALD_ABSENT_UINT64 ||
                      figures->memory_used_bytes <= device->memory_total_bytes);
        g_assert_true(figures->clock_hz == ALD_ABSENT_UINT64 || figures->clock_hz <= ALD_INTEGER_MAX);
        g_assert_true(figures->power_micro_watts == ALD_ABSENT_UINT64 ||
                      figures->power_micro_watts <= ALD_INTEGER_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(AldNvmlAnswer) answer = NULL;

        if (ald_nvml_answer_parse((const char *) data, size, &answer) < 0)
                return 0;
        g_assert_cmpuint(answer->devices->len, <=, ALD_NVML_DEVICES_MAX);
        for (guint i = 0; i < answer->devices->len; i++) {
                const AldNvmlDevice *device = answer->devices->pdata[i];

                check(device);
                for (guint k = 0; device->instances && k < device->instances->len; k++)
                        check(device->instances->pdata[k]);
        }
        return 0;
}
