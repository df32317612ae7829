/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Limits how often each address may connect where a connection costs a TLS handshake:
 * ALD_HANDSHAKES_PER_SECOND in the long run, and ALD_HANDSHAKES_AT_ONCE at once. Addresses that have received
 * no answer yet also share a budget, since one attacker may have very many. An address is a prefix as made by
 * http-prefix.h. Memory is limited: of many addresses, the one that has been quiet for longest is forgotten,
 * those without an answer first.
 */
typedef struct AldHandshakeLimit AldHandshakeLimit;

#define ALD_HANDSHAKES_PER_SECOND 8u
#define ALD_HANDSHAKES_AT_ONCE 32u
#define ALD_HANDSHAKES_OF_STRANGERS_PER_SECOND 16u
#define ALD_HANDSHAKES_OF_STRANGERS_AT_ONCE 64u
#define ALD_HANDSHAKES_ADDRESSES 256u

AldHandshakeLimit *ald_handshake_limit_new(void);
void ald_handshake_limit_free(AldHandshakeLimit *limit);

/* Returns whether this address may connect now, and counts the connection if so. `now` is CLOCK_MONOTONIC in
 * µs. */
bool ald_handshake_limit_allows(AldHandshakeLimit *limit, uint64_t prefix, gint64 now);
/* From now on, does not count the address among those that have received no answer. */
void ald_handshake_limit_set_answered(AldHandshakeLimit *limit, uint64_t prefix);
/* Returns how many connections were refused. */
uint64_t ald_handshake_limit_refused(const AldHandshakeLimit *limit);
