/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <zlib.h>

#include "services/history/store/pack.h"
#include "services/history/store/varint.h"

/* A window of 8 KiB is larger than most chunks, and keeps the state of zlib below 80 KiB. */
#define WINDOW_BITS 13
#define MEMORY_LEVEL 6
#define CHECKSUM_BYTES 4u

/* Returns the number of compressed bytes, or 0 if compression saves nothing. */
static size_t compress_to(uint8_t *to, const uint8_t *bytes, size_t n)
{
        z_stream stream = { 0 };
        int r;

        if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
                    Z_DEFAULT_STRATEGY) != Z_OK)
                g_error("Out of memory");
        stream.next_in = (uint8_t *) (uintptr_t) bytes;
        stream.avail_in = (uInt) n;
        stream.next_out = to;
        stream.avail_out = (uInt) n;
        r = deflate(&stream, Z_FINISH);
        deflateEnd(&stream);
        return r == Z_STREAM_END && stream.total_out < n ? stream.total_out : 0;
}

static bool expand_to(uint8_t *to, size_t n_to, const uint8_t *bytes, size_t n)
{
        z_stream stream = { 0 };
        int r;

        if (inflateInit2(&stream, -WINDOW_BITS) != Z_OK)
                g_error("Out of memory");
        stream.next_in = (uint8_t *) (uintptr_t) bytes;
        stream.avail_in = (uInt) n;
        stream.next_out = to;
        stream.avail_out = (uInt) n_to;
        r = inflate(&stream, Z_FINISH);
        inflateEnd(&stream);
        return r == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
}

GByteArray *ald_pack(const uint8_t *bytes, size_t n)
{
        GByteArray *packed = g_byte_array_sized_new((guint) (n + 16));
        g_autofree uint8_t *shorter = g_malloc(MAX(n, 1));
        uint32_t sum = GUINT32_TO_LE((uint32_t) crc32(0, bytes, (uInt) n));
        size_t n_shorter;

        g_assert(n <= ALD_PACK_BYTES_MAX);
        n_shorter = n > 0 ? compress_to(shorter, bytes, n) : 0;
        /* The length before compression; 0 if the bytes are not compressed. */
        ald_varint_append(packed, n_shorter > 0 ? n : 0);
        g_byte_array_append(packed, (const uint8_t *) &sum, CHECKSUM_BYTES);
        if (n_shorter > 0)
                g_byte_array_append(packed, shorter, (guint) n_shorter);
        else
                g_byte_array_append(packed, bytes, (guint) n);
        return packed;
}

int ald_unpack(const uint8_t *packed, size_t n, GByteArray **ret)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        AldBytes rest = { packed, n, false };
        uint64_t length = ald_varint_read(&rest);
        uint32_t sum;

        if (rest.bad || rest.n < CHECKSUM_BYTES || length > ALD_PACK_BYTES_MAX)
                return -EBADMSG;
        memcpy(&sum, rest.at, CHECKSUM_BYTES);
        rest.at += CHECKSUM_BYTES;
        rest.n -= CHECKSUM_BYTES;
        if (length == 0)
                g_byte_array_append(bytes, rest.at, (guint) MIN(rest.n, ALD_PACK_BYTES_MAX));
        else {
                g_byte_array_set_size(bytes, (guint) length);
                if (!expand_to(bytes->data, length, rest.at, rest.n))
                        return -EBADMSG;
        }
        if (GUINT32_FROM_LE(sum) != (uint32_t) crc32(0, bytes->data, bytes->len))
                return -EBADMSG;
        *ret = g_steal_pointer(&bytes);
        return 0;
}
