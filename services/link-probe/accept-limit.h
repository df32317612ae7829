/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "services/link-probe/remote.h"

/*
 * How many connections may be under way before the other side has proved who it is, and how many of them may
 * begin in a second. Each class of remote has a share of its own, and in it each place. Where a share or a
 * place is full, its oldest connection gives way, once it has had time to prove itself. Pure: times are
 * CLOCK_MONOTONIC in µs.
 */
typedef struct AldAcceptLimit AldAcceptLimit;

typedef struct AldAcceptShare {
        unsigned max, place_max; /* at a time, in all and from one place */
        uint64_t give_way_usec;  /* after so long the oldest makes room for another */
        /* Beginning in a second, after as many at once as the burst is; 0: any number. */
        unsigned per_second, burst;
        unsigned place_per_second, place_burst;
} AldAcceptShare;

/* Beyond, the rate of the place that was quiet for longest is forgotten. */
#define ALD_ACCEPT_LIMIT_PLACES_MAX 256u

/* The shares, one for each class, must outlive it. */
AldAcceptLimit *ald_accept_limit_new(const AldAcceptShare *shares);
void ald_accept_limit_free(AldAcceptLimit *limit);

/* Lets the connection in, and sets *ret_evicted to the one that has to end for it, or NULL; that one has
 * left. -EUSERS where there is no room, -EBUSY where too many have begun. */
int ald_accept_limit_enter(
        AldAcceptLimit *limit, const AldRemote *remote, uint64_t now, void *connection, void **ret_evicted);

/* It has ended, or proved who it is. Does nothing where it is not in. */
void ald_accept_limit_leave(AldAcceptLimit *limit, const void *connection);
