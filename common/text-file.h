/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/*
 * Reads a regular file of at most `max` bytes, and ends the text with a NUL byte that is not counted; free it
 * with g_free(). Does not wait, as opening a FIFO would. Returns a negative errno: -EINVAL if it is not a
 * regular file, -EFBIG if it is larger.
 */
int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_size);

/* Describes an error of ald_text_file_read(). */
const char *ald_text_file_reason(int error);
