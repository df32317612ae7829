/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/random.h>

#include <glib.h>

#include "probes/rdma/ping.h"

#define NONCE_BITS 53u

uint64_t ald_ping_nonce(void)
{
        uint64_t random = 0;

        (void) !getrandom(&random, sizeof random, 0);
        return random >> (64 - NONCE_BITS);
}

void ald_ping_write(const AldPing *ping, uint8_t ret[static ALD_PING_SIZE])
{
        const uint64_t words[] = { GUINT64_TO_BE(ping->nonce), GUINT64_TO_BE(ping->number) };

        memcpy(ret, words, sizeof words);
}

AldPing ald_ping_read(const uint8_t bytes[static ALD_PING_SIZE])
{
        uint64_t words[2];

        memcpy(words, bytes, sizeof words);
        return (AldPing){ GUINT64_FROM_BE(words[0]), GUINT64_FROM_BE(words[1]) };
}
