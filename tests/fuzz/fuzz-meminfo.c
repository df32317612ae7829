/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/host/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_size(uint64_t size)
{
        g_assert_true(size == ALD_ABSENT_UINT64 || size <= (uint64_t) ALD_INTEGER_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        AldMemory memory = ALD_MEMORY_INIT;

        ald_meminfo_parse(text, &memory);
        check_size(memory.total_bytes);
        check_size(memory.available_bytes);
        check_size(memory.swap_total_bytes);
        check_size(memory.swap_available_bytes);
        g_assert_true(memory.total_bytes != 0);
        if (memory.available_bytes != ALD_ABSENT_UINT64)
                g_assert_true(memory.available_bytes <= memory.total_bytes);
        return 0;
}
