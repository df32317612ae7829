/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/compute/opencl/device.h"

/* The amount of memory that a measurement uses. Pure. */
typedef struct AldBufferSizes {
        uint64_t start; /* the smallest size that exceeds all known caches; start and limit are the pattern
                           times 2^n */
        uint64_t limit; /* not less than start */
        bool wants;     /* there is too little memory for the usual size */
} AldBufferSizes;

/* Returns the sizes for a measurement. `available` is the memory that is free for the device, its own or the
 * host's, in bytes; 0 if unknown. With `copies`, there are two buffers instead of one. The limit is 0 if
 * there is not even enough memory for the pattern. */
AldBufferSizes ald_buffer_sizes(const AldOpenclTarget *device, uint64_t available, bool copies);

/* The usual size of each buffer of a copy between host and device, which is so large that the time to start a
 * copy is negligible. */
#define ALD_TRANSFER_BYTES (UINT64_C(256) << 20)

/* With less, the start of each copy would affect the rate. */
#define ALD_TRANSFER_ENOUGH (UINT64_C(32) << 20)

/* Returns the size of each of these two buffers, one of the device and one of the host, a multiple of the
 * pattern; 0 if there is not enough memory. `host_available` is the memory that is free on the host, in
 * bytes; 0 if unknown. */
uint64_t ald_transfer_size(const AldOpenclTarget *device, uint64_t available, uint64_t host_available);

/* Returns how much memory all buffers of a measurement may use, leaving some for programs that start
 * meanwhile; 0 if unknown. */
uint64_t ald_buffers_most(const AldOpenclTarget *device, uint64_t available);
