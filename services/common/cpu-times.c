/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "record/field.h"
#include "services/common/cpu-times.h"

bool ald_cpu_times_parse(const char *text, AldCpuTimes *ret)
{
        AldCpuTimes times = { 0 };
        size_t n = 0;

        if (!g_str_has_prefix(text, "cpu "))
                return false;
        for (text += strlen("cpu"); *text == ' ' && n < ALD_CPU_N_TIMES; n++) {
                char *end;

                text += strspn(text, " ");
                if (!g_ascii_isdigit(*text))
                        return false;
                errno = 0;
                times.ticks[n] = strtoull(text, &end, 10);
                if (errno != 0)
                        return false;
                text = end;
        }
        /* A number at the end of the text may be cut off. */
        if (n <= ALD_CPU_IDLE || (*text != '\n' && *text != ' '))
                return false;
        *ret = times;
        return true;
}

/* Returns the ticks between two samples. A single time steps back when a processor is removed, or by
 * rounding; that counts as 0. */
static double ticks_passed(const AldCpuTimes *before, const AldCpuTimes *after, int time)
{
        uint64_t from = before->ticks[time], to = after->ticks[time];

        return to > from ? (double) (to - from) : 0;
}

double ald_cpu_usage(const AldCpuTimes *before, const AldCpuTimes *after)
{
        double busy = 0, idle = 0;

        for (int i = 0; i < ALD_CPU_N_TIMES; i++)
                *(i == ALD_CPU_IDLE || i == ALD_CPU_IOWAIT ? &idle : &busy) += ticks_passed(before, after, i);
        return busy + idle > 0 ? 100 * (busy / (busy + idle)) : ALD_ABSENT_DOUBLE;
}
