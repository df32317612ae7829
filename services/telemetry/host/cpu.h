/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/common/cpu-times.h"

/* Load of all processors, from the first line of /proc/stat. */
typedef struct AldCpuCollector AldCpuCollector;

AldCpuCollector *ald_cpu_collector_new(int root);
void ald_cpu_collector_free(AldCpuCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldCpuCollector, ald_cpu_collector_free)

/* Returns the share of time since the last call that was not idle, in percent; absent at the first call, and
 * if it cannot be read. */
double ald_cpu_collector_sample(AldCpuCollector *collector);
