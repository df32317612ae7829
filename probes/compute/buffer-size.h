/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/compute/device.h"

/* How much memory a measurement goes through. Pure. */
typedef struct AldBufferSizes {
        uint64_t start; /* the least that no cache holds, as far as is known; both times 2^n of the pattern */
        uint64_t limit; /* not less than start */
        bool wants;     /* there is less memory than that would take */
} AldBufferSizes;

/* available: what is free for the device, of its own memory or the host's, bytes; 0: not known. copies: two
 * buffers instead of one. limit is 0 where there is not even memory for the pattern. */
AldBufferSizes ald_buffer_sizes(const AldOpenclTarget *device, uint64_t available, bool copies);

/* How much all buffers of a measurement may take, so that whatever begins meanwhile finds memory; 0: not
 * known.
 */
uint64_t ald_buffers_most(const AldOpenclTarget *device, uint64_t available);
