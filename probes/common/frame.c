/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "probes/common/frame.h"

static size_t frame_length(const AldFrameReader *reader)
{
        const uint8_t *b = reader->bytes;

        return (size_t) b[0] << 24 | (size_t) b[1] << 16 | (size_t) b[2] << 8 | b[3];
}

uint8_t *ald_frame_room(AldFrameReader *reader, size_t *ret_n)
{
        *ret_n = sizeof reader->bytes - reader->n;
        return reader->bytes + reader->n;
}

void ald_frame_added(AldFrameReader *reader, size_t n)
{
        reader->n += n;
}

int ald_frame_peek(const AldFrameReader *reader, const char **ret_bytes, size_t *ret_n)
{
        if (reader->n < ALD_FRAME_HEADER)
                return 0;
        if (frame_length(reader) == 0 || frame_length(reader) > ALD_FRAME_MAX)
                return -EMSGSIZE;
        if (reader->n - ALD_FRAME_HEADER < frame_length(reader))
                return 0;
        *ret_bytes = (const char *) reader->bytes + ALD_FRAME_HEADER;
        *ret_n = frame_length(reader);
        return 1;
}

void ald_frame_drop(AldFrameReader *reader)
{
        size_t n = ALD_FRAME_HEADER + frame_length(reader);

        memmove(reader->bytes, reader->bytes + n, reader->n - n);
        reader->n -= n;
}

void ald_frame_header(size_t n, uint8_t ret[static ALD_FRAME_HEADER])
{
        for (unsigned i = 0; i < ALD_FRAME_HEADER; i++)
                ret[i] = (uint8_t) (n >> (8 * (ALD_FRAME_HEADER - 1 - i)));
}
