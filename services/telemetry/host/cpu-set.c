/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/telemetry/host/cpu-set.h"

/* Parses a decimal number and moves *text past it. */
static int parse_cpu(const char **text, unsigned *ret)
{
        unsigned cpu = 0;

        if (!g_ascii_isdigit(**text))
                return -EBADMSG;
        for (; g_ascii_isdigit(**text); (*text)++) {
                cpu = cpu * 10 + (unsigned) (**text - '0');
                if (cpu >= ALD_CPU_SET_MAX)
                        return -ERANGE;
        }
        *ret = cpu;
        return 0;
}

/* Parses "3" or "0-3" and moves *text past it. */
static int parse_range(const char **text, AldCpuSet *set)
{
        unsigned first, last;
        int r = parse_cpu(text, &first);

        if (r < 0)
                return r;
        last = first;
        if (**text == '-') {
                (*text)++;
                r = parse_cpu(text, &last);
                if (r < 0)
                        return r;
        }
        if (last < first)
                return -EBADMSG;
        for (unsigned cpu = first; cpu <= last; cpu++)
                set->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
        return 0;
}

int ald_cpu_set_parse(const char *text, AldCpuSet *ret)
{
        AldCpuSet set = {};

        if (*text != '\n' && *text != '\0')
                for (;; text++) {
                        int r = parse_range(&text, &set);

                        if (r < 0)
                                return r;
                        if (*text != ',')
                                break;
                }
        if (*text == '\n')
                text++;
        if (*text != '\0')
                return -EBADMSG;
        *ret = set;
        return 0;
}

bool ald_cpu_set_has(const AldCpuSet *set, unsigned cpu)
{
        return cpu < ALD_CPU_SET_MAX && (set->words[cpu / 64] >> cpu % 64 & 1) != 0;
}

unsigned ald_cpu_set_count(const AldCpuSet *set)
{
        unsigned n = 0;

        for (unsigned i = 0; i < G_N_ELEMENTS(set->words); i++)
                n += (unsigned) __builtin_popcountll(set->words[i]);
        return n;
}

void ald_cpu_set_add(AldCpuSet *set, const AldCpuSet *other)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(set->words); i++)
                set->words[i] |= other->words[i];
}
