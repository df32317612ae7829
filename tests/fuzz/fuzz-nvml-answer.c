/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdint.h>

#include "record/message.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-nvlink.h"
#include "services/telemetry/gpu/nvml-source.h"
#include "services/telemetry/helper/nvml-api.h"

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
        g_assert_true(figures.energy_micro_joules == ALD_ABSENT_UINT64 ||
                      figures.energy_micro_joules <= ALD_INTEGER_MAX);
        g_assert_true(
                figures.power_limit_micro_watts == ALD_ABSENT_UINT64 ||
                (figures.power_limit_micro_watts > 0 && figures.power_limit_micro_watts <= ALD_INTEGER_MAX));
        g_assert_true(isnan(figures.fan_percent) || (figures.fan_percent >= 0 && figures.fan_percent <= 100));
        g_assert_cmpuint(g_strv_length((char **) figures.throttle_reasons), <=, 4);
        g_assert_true(figures.power_micro_watts == ALD_ABSENT_UINT64 ||
                      figures.power_micro_watts <= ALD_INTEGER_MAX);
}

/* No device has more links than there are, none to itself, and all with somebody. */
static void check_links(const AldNvmlAnswer *answer, const char *device)
{
        g_autoptr(GArray) nvlinks = ald_gpu_nvlinks_new(answer, device);
        uint64_t n = 0;

        for (guint i = 0; i < nvlinks->len; i++) {
                const AldGpuNvlinks *links = &g_array_index(nvlinks, AldGpuNvlinks, i);

                g_assert_true(*links->peer == '\0' || ald_gpu_is_pci_address(links->peer));
                g_assert_cmpstr(links->peer, !=, device);
                g_assert_true(ald_gpu_nvlinks_to(nvlinks, links->peer) == links);
                n += links->n;
        }
        g_assert_cmpuint(n, <=, ALD_NVML_LINKS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(AldRecord) record = NULL;
        const AldNvmlAnswer *answer;

        if (ald_message_parse(ALD_KIND_NVML_ANSWER, (const char *) data, size, ALD_CHILD_MESSAGE_MAX, &record,
                    NULL) < 0)
                return 0;
        answer = ald_record_as(record, NVML_ANSWER, AldNvmlAnswer);
        for (size_t i = 0; i < answer->devices.n; i++) {
                const AldNvmlDevice *device = ald_rows_at(&answer->devices, i);

                check(device);
                check_links(answer, device->id);
        }
        return 0;
}
