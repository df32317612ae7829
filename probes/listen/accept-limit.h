/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/listen/remote.h"

/*
 * Limits how many connections may be open before the other side has proved its identity, and how many may
 * begin per second. Each class of remote has its own share, and each place has one within that of its class.
 * If a share or a place is full, its oldest connection is closed, once it has had time to prove its identity.
 * Pure: times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldAcceptLimit AldAcceptLimit;

typedef struct AldAcceptShare {
        unsigned max, place_max;     /* at the same time: in total, and from one place */
        uint64_t replace_after_usec; /* after this time the oldest may be closed for another */
        /* Rate of new connections beyond a burst; 0: unlimited. */
        unsigned per_second, burst;
        unsigned place_per_second, place_burst;
} AldAcceptShare;

/* With more places, the rate of the place that was idle for longest is forgotten. */
#define ALD_ACCEPT_LIMIT_PLACES_MAX 256u

/* The shares, one for each class, must outlive it. */
AldAcceptLimit *ald_accept_limit_new(const AldAcceptShare *shares);
void ald_accept_limit_free(AldAcceptLimit *limit);

/* Admits the connection, and sets *ret_evicted to the connection that must be closed for it, or NULL; that
 * one has already been removed. Returns -EUSERS if there is no room, -EBUSY if too many have begun
 * recently. */
int ald_accept_limit_enter(
        AldAcceptLimit *limit, const AldRemote *remote, uint64_t now, void *connection, void **ret_evicted);

/* Stops counting a connection that has ended or proved its identity. Does nothing if it is not counted. */
void ald_accept_limit_leave(AldAcceptLimit *limit, const void *connection);
