/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* Host memory and the pressure on it, from /proc/meminfo and /proc/pressure/memory. */
typedef struct AldMemoryCollector AldMemoryCollector;

/* The root must stay open as long as the collector lives. */
AldMemoryCollector *ald_memory_collector_new(int root);
void ald_memory_collector_free(AldMemoryCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMemoryCollector, ald_memory_collector_free)

/* What cannot be read, or contradicts itself, is absent. */
void ald_memory_collector_sample(AldMemoryCollector *collector, AldMemory *ret);

/* Sets the sizes that the text of a meminfo tells; leaves the rest as it is. */
void ald_meminfo_parse(const char *text, AldMemory *memory);

/* Sets the pressures that the text of a PSI file tells; leaves the rest as it is. */
void ald_psi_parse(const char *text, AldMemory *memory);
