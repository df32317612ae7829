/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Nodes that reported to be busy, or paths, which are not probed for a while. The duration varies, so that
 * two nodes that block each other do not collide again. */
typedef struct AldDeferrals AldDeferrals;

#define ALD_DEFERRALS_MAX 1024u
#define ALD_DEFERRAL_MIN_USEC (UINT64_C(2) * 1000 * 1000)
#define ALD_DEFERRAL_MAX_USEC (UINT64_C(12) * 1000 * 1000)

/* The durations for a path, longer so that other paths to the node are probed meanwhile. */
#define ALD_DEFERRAL_PATH_MIN_USEC (UINT64_C(120) * 1000 * 1000)
#define ALD_DEFERRAL_PATH_MAX_USEC (UINT64_C(240) * 1000 * 1000)

AldDeferrals *ald_deferrals_new(uint64_t min_usec, uint64_t max_usec);
void ald_deferrals_free(AldDeferrals *deferrals);

/* Defers a node or path and returns for how long. All times are CLOCK_MONOTONIC in µs. */
uint64_t ald_deferrals_add(AldDeferrals *deferrals, const char *name, uint64_t now);

/* Returns whether it must still be avoided. */
bool ald_deferrals_has(const AldDeferrals *deferrals, const char *name, uint64_t now);

/* Appends copies of the names that must still be avoided. */
void ald_deferrals_append(AldDeferrals *deferrals, uint64_t now, GPtrArray *names);
