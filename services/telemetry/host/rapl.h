/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/* After an energy counter has stood still for this long, its growth does not give the current power. */
#define ALD_ENERGY_STILL_MAX_USEC (10 * 1000 * 1000)

/*
 * Power of the processor packages, from the energy counters of RAPL (powercap). Only the domains of whole
 * packages count, since those of cores, memory and the platform overlap with them.
 */
typedef struct AldRaplCollector AldRaplCollector;

AldRaplCollector *ald_rapl_collector_new(int root);
void ald_rapl_collector_free(AldRaplCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldRaplCollector, ald_rapl_collector_free)

/* Returns the mean power of all packages in µW, each since its counter last grew. Absent at the first call,
 * if a package cannot be read, while a counter stands still, and when it grows after 10 s or more without
 * growth. A power is kept for a second, however often it is asked for. */
uint64_t ald_rapl_collector_sample(AldRaplCollector *collector, uint64_t now_usec);

/* Returns why the power is absent, as in AbsentReasons, if an administrator can fix it; else NULL. */
const char *ald_rapl_collector_reason(const AldRaplCollector *collector);
