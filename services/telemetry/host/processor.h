/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* The processors of the machine, from /proc/cpuinfo and sysfs. Everything is read at the start and when udev
 * reports that a CPU or NUMA node was added or removed; clocks and governors also when a program sets a
 * governor. */
typedef struct AldProcessorCollector AldProcessorCollector;

/* `changed` is called from the main loop when ald_processor_collector_fill() may have something new. The root
 * must stay open as long as the collector lives. */
AldProcessorCollector *ald_processor_collector_new(int root, void (*changed)(void *userdata), void *userdata);
void ald_processor_collector_free(AldProcessorCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldProcessorCollector, ald_processor_collector_free)

/* Fills in the record. Strings and rows belong to the collector, until `changed` is called or the main loop
 * runs. */
void ald_processor_collector_fill(const AldProcessorCollector *collector, AldProcessor *ret);

/* Reads everything again, as after a udev event. */
void ald_processor_collector_refresh(AldProcessorCollector *collector);
