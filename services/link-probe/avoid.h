/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nodes that have said to be busy, or paths: left alone for a while that differs from time to time, so that
 * two that are in each other's way do not meet again. */
typedef struct AldAvoid AldAvoid;

#define ALD_AVOID_MAX 1024u
#define ALD_AVOID_MIN_USEC (UINT64_C(2) * 1000 * 1000)
#define ALD_AVOID_MAX_USEC (UINT64_C(12) * 1000 * 1000)

/* Of a path. Meanwhile all others to the node have their turn. */
#define ALD_AVOID_PATH_MIN_USEC (UINT64_C(120) * 1000 * 1000)
#define ALD_AVOID_PATH_MAX_USEC (UINT64_C(240) * 1000 * 1000)

AldAvoid *ald_avoid_new(uint64_t min_usec, uint64_t max_usec);
void ald_avoid_free(AldAvoid *avoid);

/* CLOCK_MONOTONIC in µs. Returns for how long. */
uint64_t ald_avoid_add(AldAvoid *avoid, const char *name, uint64_t now);

/* Whether it is to be left alone still. */
bool ald_avoid_has(const AldAvoid *avoid, const char *name, uint64_t now);

/* Calls for each that is to be left alone still. */
void ald_avoid_foreach(
        AldAvoid *avoid, uint64_t now, void (*found)(const char *name, void *userdata), void *userdata);
