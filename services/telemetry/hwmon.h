/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Temperature of the processor packages, from the hwmon chips that measure them, else from a thermal zone. A
 * reader of our own, since libsensors reads below /sys only and opens each file anew.
 */
typedef struct AldHwmonCollector AldHwmonCollector;

AldHwmonCollector *ald_hwmon_collector_new(int root);
void ald_hwmon_collector_free(AldHwmonCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHwmonCollector, ald_hwmon_collector_free)

/* The hottest package in m°C, or absent. Looks for sensors again after one has gone, and now and then while
 * there is none, since drivers load late. */
int64_t ald_hwmon_collector_sample(AldHwmonCollector *collector, uint64_t now_usec);
