/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* The content of a ping, in network byte order. */

typedef struct AldPing {
        uint64_t nonce; /* of the receiver */
        uint64_t number;
} AldPing;

#define ALD_PING_SIZE 16u

/* Returns a random nonce of as many bits as messages on the control connection carry. */
uint64_t ald_ping_nonce(void);

void ald_ping_write(const AldPing *ping, uint8_t ret[static ALD_PING_SIZE]);
AldPing ald_ping_read(const uint8_t bytes[static ALD_PING_SIZE]);
