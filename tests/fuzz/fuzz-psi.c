/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/host/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_share(double share)
{
        g_assert_true(isnan(share) || (share >= 0 && share <= 100));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        AldMemory memory = ALD_MEMORY_INIT;

        ald_psi_parse(text, &memory);
        check_share(memory.pressure_some10);
        check_share(memory.pressure_full10);
        return 0;
}
