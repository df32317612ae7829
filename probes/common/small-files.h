/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Small files below a root directory; paths are relative to it. */

/* Compares two names, for g_ptr_array_sort(). */
int ald_file_compare_names(const void *a, const void *b);

/* Returns the text without surrounding white space, to be freed with g_free(); NULL if there is none, or the
 * file cannot be read. */
char *ald_file_text(const char *root, const char *path);

/* Reads the number at the start of the file. */
bool ald_file_number(const char *root, const char *path, uint64_t *ret);

/* Reads the number after a word at the start of a line ("MemAvailable:"). */
bool ald_file_field(const char *root, const char *path, const char *word, uint64_t *ret);

/* Returns the host memory that can be used without swapping, in bytes; 0 if unknown. */
uint64_t ald_host_memory_available(const char *root);
