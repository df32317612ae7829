/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

#include "record/schema.h"

/* The batteries that supply the machine, not those of mice and headsets, nor a UPS. */
typedef struct AldBatteries AldBatteries;

#define ALD_BATTERIES_DIR "sys/class/power_supply"
#define ALD_BATTERIES_MAX 16u /* others are not read */

/* Finds the batteries among the names in ALD_BATTERIES_DIR, asking none of them for anything that changes.
 * The root must stay open. */
AldBatteries *ald_batteries_find(int root, const char *const *names);
void ald_batteries_free(AldBatteries *batteries);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBatteries, ald_batteries_free)

size_t ald_batteries_count(const AldBatteries *batteries);

/* Asks all batteries, which takes tens of milliseconds for each where an embedded controller has to answer.
 * Returns the number of rows, whose Id belongs to `batteries`. */
size_t ald_batteries_read(AldBatteries *batteries, AldBattery rows[static ALD_BATTERIES_MAX]);
