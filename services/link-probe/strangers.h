/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Where those came from who began as members of the cluster do and were none. Each of them costs a process,
 * so from one place there may be some at once, and then one a second.
 */
typedef struct AldStrangers AldStrangers;

#define ALD_STRANGERS_BURST 8u
#define ALD_STRANGERS_PERIOD_USEC UINT64_C(1000000)
/* Beyond, the place that has waited longest is forgotten. */
#define ALD_STRANGERS_PLACES_MAX 256u

AldStrangers *ald_strangers_new(void);
void ald_strangers_free(AldStrangers *strangers);

/* Times are CLOCK_MONOTONIC in µs. */
void ald_strangers_note(AldStrangers *strangers, const char *place, uint64_t now);
bool ald_strangers_may_come(AldStrangers *strangers, const char *place, uint64_t now);
