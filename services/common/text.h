/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define ALD_TEXT_MAX 256u          /* bytes of a field; a longer one is absurd */
#define ALD_BYTES_MAX (64u * 1024) /* bytes of a file that is read as a whole */

/*
 * Text from firmware or a file as a field may show it: on one line, single blanks, nothing at either end.
 * NULL where nothing remains, and for what is not UTF-8, has a NUL byte within, or is absurdly long.
 */
char *ald_text_tidy(const char *raw, size_t length);

/* The same of a whole file. NULL where there is none; an unreadable one is logged. */
char *ald_text_read(int root, const char *path);

/* All bytes of a file, terminated; their number, or negative errno. The second logs it unless the file is
 * missing. */
ssize_t ald_bytes_try_read(int root, const char *path, char **ret);
ssize_t ald_bytes_read(int root, const char *path, char **ret);
