/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * How often each address may connect where a connection costs a handshake of TLS: ALD_HANDSHAKES_PER_SECOND
 * in the long run, and ALD_HANDSHAKES_AT_ONCE at once. Addresses of IPv6 count by their /64. Memory is
 * bounded: of many addresses, the one that has been quiet for longest is forgotten.
 */
typedef struct AldHandshakeLimit AldHandshakeLimit;

#define ALD_HANDSHAKES_PER_SECOND 8u
#define ALD_HANDSHAKES_AT_ONCE 32u
#define ALD_HANDSHAKES_ADDRESSES 256u

AldHandshakeLimit *ald_handshake_limit_new(void);
void ald_handshake_limit_free(AldHandshakeLimit *limit);

/* Tells whether this address may connect now, and counts the connection if so. `now` is CLOCK_MONOTONIC in
 * µs.
 */
bool ald_handshake_limit_allows(AldHandshakeLimit *limit, const struct sockaddr *address, gint64 now);
/* How many could not. */
uint64_t ald_handshake_limit_refused(const AldHandshakeLimit *limit);
