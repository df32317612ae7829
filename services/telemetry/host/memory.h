/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* Host memory and the pressure on it, from /proc/meminfo and /proc/pressure/memory: with what the cache of
 * ZFS gives back, without the memory of GPUs, and within the limit of the container. */
typedef struct AldMemoryCollector AldMemoryCollector;

/* The root must stay open as long as the collector lives. */
AldMemoryCollector *ald_memory_collector_new(int root);
void ald_memory_collector_free(AldMemoryCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMemoryCollector, ald_memory_collector_free)

/* Takes the devices of the machine (rows of AldBackend), in case the kernel counts the memory of one as the
 * host's. */
void ald_memory_collector_use_backends(AldMemoryCollector *collector, const AldRows *backends);

/* Reads the present values. Those that cannot be read or are inconsistent are absent. */
void ald_memory_collector_sample(AldMemoryCollector *collector, AldMemory *ret);

/* Sets the sizes in the text of /proc/meminfo; leaves the other fields as they are. */
void ald_meminfo_parse(const char *text, AldMemory *memory);

/*
 * Adds the part of ZFS's cache (the ARC) that can shrink to the available memory, from the text of its
 * arcstats, since the kernel does not count it. A cache that is larger than the memory in use belongs to
 * another machine.
 */
void ald_arcstats_parse(const char *text, AldMemory *memory);

/* Sets the pressures in the text of a PSI file; leaves the other fields as they are. */
void ald_psi_parse(const char *text, AldMemory *memory);
