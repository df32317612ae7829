/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message as a broker passed it on. */
typedef struct AldReceived {
        uint32_t broker; /* its number; not 0 */
        uint64_t conn;   /* number of the connection through which it arrived */
        const char *topic;
        const char *payload; /* a NUL follows */
        size_t size;
        bool retained; /* the broker had stored it, so it does not show that the sender is alive */
} AldReceived;
