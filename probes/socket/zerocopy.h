/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Sending without a copy, on one connection. It pays at high rates, and only where the way to the device
 * knows how: the kernel tells where it copied after all. The bytes never change, so nobody waits for them.
 */
typedef struct AldZerocopy {
        bool asked; /* the connection was told */
        bool off;   /* it cannot, or it copied */
} AldZerocopy;

/* Whether the next bytes are to be sent so; wanted may become true at any time. */
bool ald_zerocopy_wanted(AldZerocopy *zerocopy, int fd, const atomic_bool *wanted);

/* Takes the kernel's notes on what was sent off the connection. */
void ald_zerocopy_reap(AldZerocopy *zerocopy, int fd);

/* There is no room for more notes. */
void ald_zerocopy_exhausted(AldZerocopy *zerocopy);
