/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Samples and buckets as the bytes that are stored, and back. Pure. */

/* Settled samples, at least one and at most ALD_CHUNK_ROWS_MAX, at times that are no earlier than 1970 and
 * multiples of ALD_SAMPLE_STEP_USEC. */
GByteArray *ald_samples_encode(const GArray *samples);
GByteArray *ald_samples_pack(const GArray *samples);

/* Appends to the samples. -EBADMSG if the bytes are not such, or a time is not within [from, to). */
int ald_samples_decode(const uint8_t *bytes, size_t n, int64_t from, int64_t to, GArray *samples);
int ald_samples_unpack(const uint8_t *packed, size_t n, int64_t from, int64_t to, GArray *samples);

/* Buckets in the order of time, each as wide as given. Means are rounded like samples without precision. */
GByteArray *ald_buckets_pack(const GArray *buckets, int64_t width);

/* Appends to the buckets, as above. */
int ald_buckets_unpack(
        const uint8_t *packed, size_t n, int64_t width, int64_t from, int64_t to, GArray *buckets);
