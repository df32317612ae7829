/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/frame.h"
#include "probes/socket/transfer/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writing what was read and reading it again gives the same message. */
static void check(const char *bytes, size_t n)
{
        /* Of exactly its size, so that a sanitizer notices reads beyond it. */
        g_autofree char *copy = g_memdup2(bytes, n);
        g_autofree char *reason = NULL, *written = NULL;
        g_autoptr(AldRecord) message = NULL, again = NULL;
        int r = ald_protocol_parse(&ald_socket_protocol, copy, n, &message, &reason);

        g_assert_true((r < 0) == (message == NULL) && (r < 0) == (reason != NULL));
        if (r < 0)
                return;
        written = ald_message_format_named(message->kind, ald_record_fields(message));
        g_assert_cmpuint(strlen(written), <=, MAX(n, ALD_FRAME_MAX));
        g_assert_cmpint(
                ald_protocol_parse(&ald_socket_protocol, written, strlen(written), &again, NULL), ==, 0);
        g_assert_cmpint(ald_record_compare(message, again), ==, 0);
}

/* A stream of frames in pieces, and the same bytes as one message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree AldFrameReader *reader = g_new0(AldFrameReader, 1);
        const char *bytes;
        size_t room, n;
        int r = 0;

        if (size > 0)
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
