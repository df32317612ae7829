/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdint.h>

#include "record/message.h"
#include "services/telemetry/gpu/nvml-source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const AldNvmlDevice *device)
{
        AldDevice figures;

        ald_nvml_device_figures(device, &figures);
        g_assert_true(device->id && *device->id && g_utf8_validate(device->id, -1, NULL));
        g_assert_true(isnan(figures.usage) || (figures.usage >= 0 && figures.usage <= 100));
        g_assert_true(figures.memory_used_bytes == ALD_ABSENT_UINT64 ||
                      figures.memory_used_bytes <= device->memory_total_bytes);
        g_assert_true(figures.clock_hz == ALD_ABSENT_UINT64 || figures.clock_hz <= ALD_INTEGER_MAX);
        g_assert_true(figures.power_micro_watts == ALD_ABSENT_UINT64 ||
                      figures.power_micro_watts <= ALD_INTEGER_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(AldRecord) record = NULL;
        const AldNvmlAnswer *answer;

        if (ald_message_parse(ALD_KIND_NVML_ANSWER, (const char *) data, size, ALD_CHILD_MESSAGE_MAX, &record,
                    NULL) < 0)
                return 0;
        answer = ald_record_as(record, NVML_ANSWER, AldNvmlAnswer);
        for (size_t i = 0; i < answer->devices.n; i++)
                check(ald_rows_at(&answer->devices, i));
        return 0;
}
