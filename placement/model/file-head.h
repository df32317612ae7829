/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The beginning of a file, read in order through a window of 64 KiB; skipping reads nothing. A function that
 * fails sets *ret_error (unless NULL) to a message with the file and the offset, which the caller frees.
 *
 * Errors are -EBADMSG if the file is malformed or truncated, -E2BIG if it exceeds a limit, -EOPNOTSUPP if its
 * version or a type in it is not supported, and those of the system.
 */
typedef struct AldFileHead {
        char *path;
        int fd;
        uint64_t size; /* of the file */
        uint64_t most; /* bytes that may be read or skipped */
        uint64_t at;   /* offset of the next byte */
        uint8_t *window;
        uint64_t window_at;
        size_t window_n;
        char **ret_error;
} AldFileHead;

/* Opens a regular file; others are an error, since they might block. */
int ald_file_head_open(AldFileHead *head, const char *path, uint64_t most, char **ret_error);
void ald_file_head_close(AldFileHead *head);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldFileHead, ald_file_head_close)
#define ALD_FILE_HEAD_CLOSED ((AldFileHead){ .fd = -1 })

int ald_file_head_read(AldFileHead *head, void *to, size_t n);
int ald_file_head_skip(AldFileHead *head, uint64_t n);
/* Read a little-endian number. */
int ald_file_head_u32(AldFileHead *head, uint32_t *ret);
int ald_file_head_u64(AldFileHead *head, uint64_t *ret);

/* Set the message and return r. The first one also names the offset of the next byte. */
int ald_file_head_fail(AldFileHead *head, int r, const char *format, ...) G_GNUC_PRINTF(3, 4);
int ald_file_fail(char **ret_error, int r, const char *path, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Returns whether the bytes are printable ASCII, so that a message may contain them, and not empty. */
bool ald_file_name_is_plain(const char *bytes, size_t n);
