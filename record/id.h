/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ALD_ID_STRING_SIZE 33

/* Digits of an id that are shown where these suffice. */
#define ALD_SHORT_ID_DIGITS 8

/* A node id: 128 bits, written as 32 lower-case hexadecimal digits. */
typedef struct AldId {
        uint8_t bytes[16];
} AldId;

/* Returns -EINVAL for anything but 32 lower-case hexadecimal digits, and for the id of all zeros. */
int ald_id_parse(const char *string, AldId *ret);

/* Returns whether a word reads like an id, or like the beginning of one with at least ALD_SHORT_ID_DIGITS
 * digits. */
bool ald_id_reads_like(const char *word);

/* Writes the string into the buffer and returns the buffer. */
char *ald_id_format(const AldId *id, char buffer[static ALD_ID_STRING_SIZE]);

bool ald_id_equal(const AldId *a, const AldId *b);
int ald_id_compare(const AldId *a, const AldId *b);

/* Hash and compare ids, for GHashTable. */
unsigned ald_id_table_hash(const void *id);
int ald_id_table_equal(const void *a, const void *b);
