/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* The contents of /proc/cpuinfo, in the formats of x86, arm, arm64, riscv, ppc64, s390x and loongarch. */
typedef struct AldCpuinfo {
        char *chip;         /* NULL if unknown; several kinds of core are joined by " + ", big ones first
                             */
        const char *vendor; /* Intel, Arm; NULL if unknown */
        bool has_flags;     /* x86 flags are present, so `hypervisor` is reliable */
        bool hypervisor;    /* the processor reports that it is virtual */
        bool user_mode;     /* the machine is User Mode Linux */

        uint64_t instruction_sets; /* of all processors, as in instruction-sets.h; 0 if unknown */
        char *microcode;           /* of the first processor, on x86; else NULL */
        uint64_t clock_hz;         /* on POWER; else 0 */
} AldCpuinfo;

void ald_cpuinfo_parse(const char *text, size_t length, AldCpuinfo *ret);
void ald_cpuinfo_read(int root, AldCpuinfo *ret);
void ald_cpuinfo_clear(AldCpuinfo *cpuinfo);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldCpuinfo, ald_cpuinfo_clear)
