/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* The power meters of ACPI (hwmon chips of the name power_meter), which measure the whole machine. */
typedef struct AldPowerMeters AldPowerMeters;

#define ALD_POWER_METERS_DIR "sys/class/hwmon"

/* Finds the meters among the names in ALD_POWER_METERS_DIR. The root must stay open. */
AldPowerMeters *ald_power_meters_find(int root, const char *const *names);
void ald_power_meters_free(AldPowerMeters *meters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPowerMeters, ald_power_meters_free)

size_t ald_power_meters_count(const AldPowerMeters *meters);

/* Asks all meters, which takes up to seconds where the firmware asks a management controller. Returns their
 * sum in µW; absent if one of them cannot be read. */
uint64_t ald_power_meters_read(AldPowerMeters *meters);
