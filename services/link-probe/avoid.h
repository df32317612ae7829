/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Nodes that have said to be busy: left alone for a while that differs from time to time, so that two that
 * are in each other's way do not meet again. */
typedef struct AldAvoid AldAvoid;

#define ALD_AVOID_MAX 1024u
#define ALD_AVOID_MIN_USEC (UINT64_C(2) * 1000 * 1000)
#define ALD_AVOID_MAX_USEC (UINT64_C(12) * 1000 * 1000)

AldAvoid *ald_avoid_new(void);
void ald_avoid_free(AldAvoid *avoid);

/* CLOCK_MONOTONIC in µs. Returns for how long. */
uint64_t ald_avoid_add(AldAvoid *avoid, const char *node, uint64_t now);

/* Calls for each that is to be left alone still. */
void ald_avoid_foreach(
        AldAvoid *avoid, uint64_t now, void (*found)(const char *node, void *userdata), void *userdata);
