/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/session.h"

/* Memory of a device that holds the pattern, to be read, and as much to be copied to. */
typedef struct AldMemoryBuffers {
        AldSession *session;
        cl_program program;
        cl_kernel fill, check;
        cl_mem from;
        cl_mem to;   /* NULL where nothing is copied */
        cl_mem sums; /* of the words, one for each work-item */
        void *host;  /* of a processor: what both are */
        size_t host_bytes;
        size_t bytes; /* of each of them; a multiple of ALD_PATTERN_BYTES */
        size_t n_sums;
        bool copies;
} AldMemoryBuffers;

/* n_sums: of the largest launch. */
int ald_memory_open(
        AldMemoryBuffers *ret, AldSession *session, bool copies, size_t n_sums, AldFailure *failure);
void ald_memory_close(AldMemoryBuffers *memory);

/* Takes so much memory instead of what it has, and fills it, so that each page of it is there. After a
 * failure it has none. */
int ald_memory_resize(AldMemoryBuffers *memory, size_t bytes, AldFailure *failure);

/* Sets the sums to 0, and makes what is copied to differ in all words from the pattern. */
int ald_memory_reset(AldMemoryBuffers *memory, AldFailure *failure);

/* Whether all of it was read so many times since, or copied: -EBADMSG with a failure of kind wrong-result
 * where it was not. */
int ald_memory_verify(AldMemoryBuffers *memory, uint64_t passes, AldFailure *failure);
