/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * The usage of the engines of an Intel GPU, from the perf events of i915. The kernel counts only for programs
 * with CAP_PERFMON, or for all programs if perf_event_paranoid is 0 or less.
 */
typedef struct AldIntelPmu AldIntelPmu;

/* Starts counting. Returns NULL if the driver has no such events for the device with this PCI address. */
AldIntelPmu *ald_intel_pmu_new(int root, const char *address);
void ald_intel_pmu_free(AldIntelPmu *pmu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldIntelPmu, ald_intel_pmu_free)

/* Returns why the kernel does not count for this process: a negative errno, or 0 if it does. */
int ald_intel_pmu_error(const AldIntelPmu *pmu);

/* Returns the share of time since the last call that the busiest engine worked, in percent; absent at the
 * first call. */
double ald_intel_pmu_read(AldIntelPmu *pmu);

/* Parses the number after "config=" in the description of an event. Returns -EBADMSG for anything else. */
int ald_intel_parse_event(const char *text, uint64_t *ret_config);
