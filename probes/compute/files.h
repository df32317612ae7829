/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Small files below a root, "/" or that of a test; paths are relative to it. */

/* The text without white space at its ends; NULL where there is none. Freed by g_free(). */
char *ald_file_text(const char *root, const char *path);

/* The number that the file starts with. */
bool ald_file_number(const char *root, const char *path, uint64_t *ret);

/* The number after a word at the start of a line ("MemAvailable:"). */
bool ald_file_field(const char *root, const char *path, const char *word, uint64_t *ret);

/* Of the host, in bytes, without swapping; 0: not known. */
uint64_t ald_host_memory_available(const char *root);
