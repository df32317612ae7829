/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The kernel has at most this many CPUs on any architecture (NR_CPUS). */
#define ALD_CPU_SET_MAX 8192u

/* A set of CPUs by their numbers. An empty one is all zeros. */
typedef struct AldCpuSet {
        uint64_t words[ALD_CPU_SET_MAX / 64];
} AldCpuSet;

/* Parses the kernel's text of a set, such as "0-3,8" and a newline; the text of the empty set is empty.
 * Returns -EBADMSG for anything else, -ERANGE for a CPU beyond the maximum; *ret is then left untouched. */
int ald_cpu_set_parse(const char *text, AldCpuSet *ret);

bool ald_cpu_set_has(const AldCpuSet *set, unsigned cpu);
unsigned ald_cpu_set_count(const AldCpuSet *set);

/* Adds all CPUs of the other set. */
void ald_cpu_set_add(AldCpuSet *set, const AldCpuSet *other);
