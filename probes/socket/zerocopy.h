/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Sending without a copy, on one connection. It is worthwhile at high rates if the path to the device
 * supports it; the kernel reports if it copied nevertheless. The bytes never change, so nothing waits for the
 * reports.
 */
typedef struct AldZerocopy {
        bool asked; /* the option was set on the connection */
        bool off;   /* not supported, or the kernel copied */
} AldZerocopy;

/* Whether to send the next bytes without a copy; wanted may become true at any time. */
bool ald_zerocopy_wanted(AldZerocopy *zerocopy, int fd, const atomic_bool *wanted);

/* Reads the kernel's reports on what was sent. */
void ald_zerocopy_reap(AldZerocopy *zerocopy, int fd);

/* There is no room for more reports. */
void ald_zerocopy_exhausted(AldZerocopy *zerocopy);
