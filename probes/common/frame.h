/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How messages are told apart within the stream of the control connection: four bytes of length, big-endian,
 * then so many bytes. Pure. */

#define ALD_FRAME_HEADER 4u
#define ALD_FRAME_MAX 4096u

typedef struct AldFrameReader {
        uint8_t bytes[ALD_FRAME_HEADER + ALD_FRAME_MAX];
        size_t n;
} AldFrameReader;

/* Where to put what comes next, at most *ret_n bytes; then ald_frame_added(). It is never 0 as long as frames
 * are taken. */
uint8_t *ald_frame_room(AldFrameReader *reader, size_t *ret_n);
void ald_frame_added(AldFrameReader *reader, size_t n);

/* 1 with the first frame, which ald_frame_drop() takes away; 0 while it is not complete; -EMSGSIZE where it
 * is empty or too long. */
int ald_frame_peek(const AldFrameReader *reader, const char **ret_bytes, size_t *ret_n);
void ald_frame_drop(AldFrameReader *reader);

/* Writes the header for n bytes. */
void ald_frame_header(size_t n, uint8_t ret[static ALD_FRAME_HEADER]);
