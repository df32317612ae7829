/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The framing of messages on the control connection: four bytes of length, big-endian, then the message.
 * Pure. */

#define ALD_FRAME_HEADER 4u
#define ALD_FRAME_MAX 4096u

typedef struct AldFrameReader {
        uint8_t bytes[ALD_FRAME_HEADER + ALD_FRAME_MAX];
        size_t n;
} AldFrameReader;

/* Returns a buffer for at most *ret_n more bytes; call ald_frame_added() once they are in it. Its size is
 * never 0 as long as the caller drops complete frames. */
uint8_t *ald_frame_room(AldFrameReader *reader, size_t *ret_n);
void ald_frame_added(AldFrameReader *reader, size_t n);

/* Returns 1 with the first frame, which ald_frame_drop() removes; 0 while it is incomplete; -EMSGSIZE if it
 * is empty or too long. */
int ald_frame_peek(const AldFrameReader *reader, const char **ret_bytes, size_t *ret_n);
void ald_frame_drop(AldFrameReader *reader);

/* Writes the header for n bytes. */
void ald_frame_header(size_t n, uint8_t ret[static ALD_FRAME_HEADER]);
