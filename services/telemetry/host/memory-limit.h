/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/*
 * The memory limit of the container that a root belongs to: the limit of its root control group, v1 or v2.
 * There is none outside containers, since the limit of a unit or slice says nothing about the machine.
 */
typedef struct AldMemoryLimits AldMemoryLimits;

/* Returns NULL outside a container. The root must stay open as long as the limits live. */
AldMemoryLimits *ald_memory_limits_new(int root);
void ald_memory_limits_free(AldMemoryLimits *limits);

/*
 * Lowers total and available to what the limits leave. Limits that are not below the total change nothing:
 * under lxcfs, /proc/meminfo already describes the container. Available is absent if the usage of a limited
 * group cannot be read. A limit that cannot be read is logged once. A limit that is set later takes effect
 * within 10 seconds.
 */
void ald_memory_limits_apply(AldMemoryLimits *limits, AldMemory *memory);
