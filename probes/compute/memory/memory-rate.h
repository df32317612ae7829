/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/opencl-session.h"

/* Device memory with the pattern, to be read, and memory of the same size to copy to. */
typedef struct AldMemoryBuffers {
        AldOpenclSession *session;
        cl_program program;
        cl_kernel fill, check;
        cl_mem from;
        cl_mem to;   /* NULL unless copying */
        cl_mem sums; /* of the words, one for each work-item */
        void *host;  /* the host memory of both, for processors */
        size_t host_bytes;
        size_t bytes; /* of `from` and of `to`; a multiple of ALD_PATTERN_BYTES */
        size_t n_sums;
        bool copies;
} AldMemoryBuffers;

/* `n_sums` is the number of work-items of the largest launch. */
int ald_memory_open(
        AldMemoryBuffers *ret, AldOpenclSession *session, bool copies, size_t n_sums, AldFailure *failure);
void ald_memory_close(AldMemoryBuffers *memory);

/* Allocates memory of this size instead of the present one, and fills it, so that all pages exist. After a
 * failure there is no memory. */
int ald_memory_resize(AldMemoryBuffers *memory, size_t bytes, AldFailure *failure);

/* Sets the sums to 0, and makes all words of the target of copies differ from the pattern. */
int ald_memory_reset(AldMemoryBuffers *memory, AldFailure *failure);

/* Checks that all of the memory was read this many times since the reset, or copied. Returns -EBADMSG with a
 * failure of kind wrong-result if not. */
int ald_memory_verify(AldMemoryBuffers *memory, uint64_t passes, AldFailure *failure);
