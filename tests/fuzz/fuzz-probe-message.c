/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/frame.h"
#include "probes/socket/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written as it was meant: reading it again gives the same. */
static void check(const char *bytes, size_t n)
{
        /* Of exactly its size, so that a sanitizer sees what reads beyond. */
        g_autofree char *copy = g_memdup2(bytes, n);
        g_autofree char *written = NULL, *twice = NULL;
        AldMessage message, again;

        if (ald_message_read(copy, n, &message, NULL) < 0)
                return;
        written = ald_message_write(&message);
        g_assert_cmpuint(strlen(written), <=, ALD_FRAME_MAX);
        g_assert_cmpint(ald_message_read(written, strlen(written), &again, NULL), ==, 0);
        twice = ald_message_write(&again);
        g_assert_cmpstr(written, ==, twice);
}

/* A stream of frames as it may come, in pieces; where there are none, one message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree AldFrameReader *reader = g_new0(AldFrameReader, 1);
        const char *bytes;
        size_t room, n;
        int r = 0;

        check((const char *) data, size);
        while (size > 0 && r >= 0) {
                uint8_t *end = ald_frame_room(reader, &room);
                size_t piece = MIN(MIN(room, size), (size_t) data[0] + 1);

                memcpy(end, data, piece);
                ald_frame_added(reader, piece);
                data += piece;
                size -= piece;
                while ((r = ald_frame_peek(reader, &bytes, &n)) > 0) {
                        check(bytes, n);
                        ald_frame_drop(reader);
                }
        }
        return 0;
}
