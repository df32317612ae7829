/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Converts samples and buckets to stored bytes and back. Pure. */

/* Encode settled samples: from one to ALD_CHUNK_ROWS_MAX, at times that are not before 1970 and are multiples
 * of ALD_SAMPLE_STEP_USEC. */
GByteArray *ald_samples_encode(const GArray *samples);
GByteArray *ald_samples_pack(const GArray *samples);

/* Append to the samples. Return -EBADMSG if the bytes are invalid, or a time is not within [from, to). */
int ald_samples_decode(const uint8_t *bytes, size_t n, int64_t from, int64_t to, GArray *samples);
int ald_samples_unpack(const uint8_t *packed, size_t n, int64_t from, int64_t to, GArray *samples);

/* Encodes buckets of this width in the order of time. Means are rounded like samples without precision. */
GByteArray *ald_buckets_pack(const GArray *buckets, int64_t width);

/* Appends to the buckets, with the same errors. */
int ald_buckets_unpack(
        const uint8_t *packed, size_t n, int64_t width, int64_t from, int64_t to, GArray *buckets);
