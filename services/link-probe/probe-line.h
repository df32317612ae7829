/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What programs that measure say, line by line, of which nothing is believed before it was checked. */

/* The object in JSON of at most so many bytes; NULL where it is none. */
json_t *ald_probe_line_load(const char *line, size_t max);
/* That of the last line, which is the result. */
json_t *ald_probe_line_load_last(const char *output, size_t max);

/* Whether there is a text, which may be NULL, of at most so many bytes that can be shown. */
bool ald_probe_line_is_readable(const char *text, size_t max);
