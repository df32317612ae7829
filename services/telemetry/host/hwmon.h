/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * The temperature of the processor packages, from the hwmon chips that are known to measure it, else from a
 * thermal zone, else from a chip whose labels or name refer to the processor. libsensors is not used, since
 * it reads only below /sys and reopens each file.
 */
typedef struct AldHwmonCollector AldHwmonCollector;

AldHwmonCollector *ald_hwmon_collector_new(int root);
void ald_hwmon_collector_free(AldHwmonCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHwmonCollector, ald_hwmon_collector_free)

/* Returns the temperature of the hottest package in m°C, or absent. Searches for sensors again after one has
 * disappeared, and from time to time while there is none, since drivers may load late. */
int64_t ald_hwmon_collector_sample(AldHwmonCollector *collector, uint64_t now_usec);
