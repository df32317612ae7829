/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "record/field.h"
#include "record/message.h"
#include "services/witness/drm-fdinfo.h"
#include "services/witness/intel-pmu.h"
#include "services/witness/process-facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What drivers and processes of anybody write into /proc, and an event of perf. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        g_autofree char *group = ald_parse_control_group(text);
        AldFdinfo info, sum;
        uint64_t config;
        double usage;

        g_assert_true(!group || (*group == '/' && strlen(group) <= ALD_MESSAGE_STRING_MAX));
        g_assert_true(!group || g_utf8_validate(group, -1, NULL));
        (void) ald_intel_parse_event(text, &config);
        if (!ald_fdinfo_parse(text, &info))
                return 0;
        g_assert_true(*info.device != '\0' && *info.driver != '\0');
        g_assert_true(info.n_engines <= ALD_FDINFO_ENGINES_MAX);
        sum = info;
        for (unsigned i = 0; i < 3; i++)
                ald_fdinfo_add(&sum, &info);
        usage = ald_fdinfo_usage(&info, &sum, 1000);
        g_assert_true(isnan(usage) || (usage >= 0 && usage <= 100));
        return 0;
}
