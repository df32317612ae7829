/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define ALD_TEXT_MAX 256u          /* bytes of a field; longer ones are refused */
#define ALD_BYTES_MAX (64u * 1024) /* bytes of a whole file */

/*
 * Normalizes text from firmware or a file: one line, single spaces, no surrounding white space. NULL if
 * nothing remains, if it is not UTF-8, contains a NUL byte, or is too long.
 */
char *ald_text_tidy(const char *raw, size_t length);

/* The same for a whole file. NULL if it does not exist; an unreadable file is logged. */
char *ald_text_read(int root, const char *path);

/* Reads all bytes of a file, NUL-terminated. Returns their number or a negative errno. The second function
 * logs errors unless the file is missing. */
ssize_t ald_bytes_try_read(int root, const char *path, char **ret);
ssize_t ald_bytes_read(int root, const char *path, char **ret);
