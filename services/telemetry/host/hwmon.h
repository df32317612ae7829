/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Temperature of the processor packages, from the hwmon chips that are known to measure them, else from a
 * thermal zone, else from whatever chip says by its labels or its name that it does. Does not use libsensors,
 * which reads below /sys only and opens each file again.
 */
typedef struct AldHwmonCollector AldHwmonCollector;

AldHwmonCollector *ald_hwmon_collector_new(int root);
void ald_hwmon_collector_free(AldHwmonCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHwmonCollector, ald_hwmon_collector_free)

/* The hottest package in m°C, or absent. Looks for sensors again after one has disappeared, and from time to
 * time while there is none, since drivers may load late. */
int64_t ald_hwmon_collector_sample(AldHwmonCollector *collector, uint64_t now_usec);
