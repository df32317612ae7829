/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * How often each address may connect where a connection costs a handshake of TLS: ALD_HANDSHAKES_PER_SECOND
 * in the long run, and ALD_HANDSHAKES_AT_ONCE at once. Addresses that have got no answer yet share a budget
 * as well, since somebody may have very many. An address is the prefix that http-prefix.h makes of it. Memory
 * is bounded: of many addresses, the one that has been quiet for longest is forgotten, of those without an
 * answer first.
 */
typedef struct AldHandshakeLimit AldHandshakeLimit;

#define ALD_HANDSHAKES_PER_SECOND 8u
#define ALD_HANDSHAKES_AT_ONCE 32u
#define ALD_HANDSHAKES_OF_STRANGERS_PER_SECOND 16u
#define ALD_HANDSHAKES_OF_STRANGERS_AT_ONCE 64u
#define ALD_HANDSHAKES_ADDRESSES 256u

AldHandshakeLimit *ald_handshake_limit_new(void);
void ald_handshake_limit_free(AldHandshakeLimit *limit);

/* Tells whether this address may connect now, and counts the connection if so. `now` is CLOCK_MONOTONIC in
 * µs.
 */
bool ald_handshake_limit_allows(AldHandshakeLimit *limit, uint64_t prefix, gint64 now);
/* From now on the address does not count among those that have got no answer. */
void ald_handshake_limit_set_answered(AldHandshakeLimit *limit, uint64_t prefix);
/* How many could not. */
uint64_t ald_handshake_limit_refused(const AldHandshakeLimit *limit);
