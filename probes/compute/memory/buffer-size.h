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

/* The usual size of each buffer of a copy between host and device: large enough that starting a copy takes no
 * time in comparison. */
#define ALD_TRANSFER_BYTES (UINT64_C(256) << 20)

/* Of less, the beginning of each copy would count. */
#define ALD_TRANSFER_ENOUGH (UINT64_C(32) << 20)

/* The size of each of these two buffers, one of the device and one of the host, a multiple of the pattern; 0
 * if there is not enough memory for it. host_available: memory that is free on the host, in bytes; 0:
 * unknown. */
uint64_t ald_transfer_size(const AldOpenclTarget *device, uint64_t available, uint64_t host_available);

/* How much all buffers of a measurement may use, leaving memory for programs that start meanwhile; 0:
 * unknown. */
uint64_t ald_buffers_most(const AldOpenclTarget *device, uint64_t available);
