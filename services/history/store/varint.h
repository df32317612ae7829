/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Encodes integers in a variable number of bytes: seven bits a byte, the lowest first. */

typedef struct AldBytes {
        const uint8_t *at;
        size_t n; /* remaining bytes */
        bool bad; /* there were too few bytes, or an integer was not encoded like this */
} AldBytes;

static inline void ald_varint_append(GByteArray *bytes, uint64_t value)
{
        uint8_t text[10];
        guint n = 0;

        for (; value >= 0x80; value >>= 7)
                text[n++] = (uint8_t) (value | 0x80);
        text[n++] = (uint8_t) value;
        g_byte_array_append(bytes, text, n);
}

static inline uint64_t ald_varint_read(AldBytes *bytes)
{
        uint64_t value = 0;

        for (unsigned shift = 0; shift < 64 && bytes->n > 0; shift += 7) {
                uint8_t byte = *bytes->at++;

                bytes->n--;
                if (shift == 63 && byte > 1)
                        break;
                value |= (uint64_t) (byte & 0x7f) << shift;
                if (byte < 0x80)
                        return value;
        }
        bytes->bad = true;
        return 0;
}

/* Encodes small integers of either sign in few bytes. */
static inline void ald_varint_append_signed(GByteArray *bytes, int64_t value)
{
        ald_varint_append(bytes, ((uint64_t) value << 1) ^ (uint64_t) (value >> 63));
}

static inline int64_t ald_varint_read_signed(AldBytes *bytes)
{
        uint64_t value = ald_varint_read(bytes);

        return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}
