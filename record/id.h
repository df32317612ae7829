/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ALD_ID_STRING_SIZE 33

/* How many digits of an id are shown where that is enough. */
#define ALD_SHORT_ID_DIGITS 8

/* A node id: 128 bits, written as 32 lower-case hexadecimal digits. */
typedef struct AldId {
        uint8_t bytes[16];
} AldId;

/* -EINVAL for anything but 32 lower-case hexadecimal digits, or the id of all zeros. */
int ald_id_parse(const char *string, AldId *ret);

/* Whether a word reads like an id, or the beginning of one that is as long as it is shown. */
bool ald_id_reads_like(const char *word);

/* Writes the string into the buffer and returns the buffer. */
char *ald_id_format(const AldId *id, char buffer[static ALD_ID_STRING_SIZE]);

bool ald_id_equal(const AldId *a, const AldId *b);
int ald_id_compare(const AldId *a, const AldId *b);

/* For hash tables of ids. */
unsigned ald_id_table_hash(const void *id);
int ald_id_table_equal(const void *a, const void *b);
