/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define ALD_TEXT_MAX 256u          /* bytes of a field; longer ones are refused */
#define ALD_BYTES_MAX (64u * 1024) /* bytes of a whole file */

/*
 * Normalizes text from firmware or a file: one line, single spaces, no surrounding white space. Returns NULL
 * if nothing remains, or if the text is not UTF-8, contains a NUL byte, or is too long. Free with g_free().
 */
char *ald_firmware_text_normalize(const char *raw, size_t length);

/* Normalizes the text of a whole file. Returns NULL if it does not exist; an unreadable file is logged. */
char *ald_text_read(int root, const char *path);

/* Read all bytes of a file, NUL-terminated. Return their number or a negative errno. The second function logs
 * errors unless the file is missing. */
ssize_t ald_bytes_try_read(int root, const char *path, char **ret);
ssize_t ald_bytes_read(int root, const char *path, char **ret);
