/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Encodes a piece of a series: rows, each with a time and the values of some columns. Times are stored as
 * differences; a regular series has only one. A column is stored as integers if all its values are decimal
 * numbers of few digits, as differences divided by their common divisor; else as doubles. NaN, which marks a
 * gap, takes no value. Decoding returns exactly what was encoded. Compression is applied to the result
 * (pack.h). Pure.
 */
#define ALD_CHUNK_ROWS_MAX 65536u
#define ALD_CHUNK_COLUMNS_MAX 4u

/* The greatest time that a chunk can hold, in its unit. */
#define ALD_CHUNK_TIME_MAX (INT64_C(1) << 52)

typedef struct AldChunk {
        size_t n_rows, n_columns;
        int64_t *times; /* from 0 to ALD_CHUNK_TIME_MAX, strictly increasing */
        double *columns[ALD_CHUNK_COLUMNS_MAX];
} AldChunk;

AldChunk *ald_chunk_new(size_t n_rows, size_t n_columns);
void ald_chunk_free(AldChunk *chunk);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldChunk, ald_chunk_free)

/* Appends the encoded chunk, which must be valid as described above, without infinities and with at least one
 * row. */
void ald_chunk_encode(const AldChunk *chunk, GByteArray *bytes);

/* Returns -EBADMSG unless the bytes are exactly one chunk. */
int ald_chunk_decode(const uint8_t *bytes, size_t n, AldChunk **ret);
