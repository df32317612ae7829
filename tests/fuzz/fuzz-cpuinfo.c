/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "services/common/cpuinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_auto(AldCpuinfo) cpuinfo = { 0 };

        ald_cpuinfo_parse((const char *) data, size, &cpuinfo);
        g_assert_true(!cpuinfo.chip || (*cpuinfo.chip && g_utf8_validate(cpuinfo.chip, -1, NULL)));
        return 0;
}
