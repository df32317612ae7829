/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "services/telemetry/gpu/gpu-drm.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-pci.h"
#include "services/telemetry/gpu/gpu-pcie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The small texts of sysfs and procfs that are taken apart. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        g_autofree char *model = ald_gpu_parse_nvidia_model(text), *market = NULL;
        AldV3dStats stats;
        uint64_t rate;

        g_assert_true(!model || *model);
        market = ald_gpu_market_name(text, "AMD");
        g_assert_true(g_str_has_prefix(market, "AMD"));
        if (ald_gpu_parse_v3d_stats(text, &stats))
                g_assert_true(stats.n_queues > 0 && stats.n_queues <= ALD_V3D_QUEUES_MAX);
        rate = ald_gpu_pcie_parse_rate(text);
        g_assert_true(rate == ALD_ABSENT_UINT64 || ald_gpu_pcie_bandwidth(32, rate) <= ALD_INTEGER_MAX);
        (void) ald_gpu_is_pci_address(text);
        return 0;
}
