/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/compute/opencl/device.h"

/* How much memory a measurement uses. Pure. */
typedef struct AldBufferSizes {
        uint64_t start; /* the smallest size that exceeds all known caches; start and limit are the pattern
                           times 2^n */
        uint64_t limit; /* not less than start */
        bool wants;     /* there is too little memory for the usual size */
} AldBufferSizes;

/* available: memory that is free for the device, its own or the host's, in bytes; 0: unknown. copies: two
 * buffers instead of one. limit is 0 if there is not even enough memory for the pattern. */
AldBufferSizes ald_buffer_sizes(const AldOpenclTarget *device, uint64_t available, bool copies);

/* How much all buffers of a measurement may use, leaving memory for programs that start meanwhile; 0:
 * unknown. */
uint64_t ald_buffers_most(const AldOpenclTarget *device, uint64_t available);
