/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* Keeps what is logged, so that a test can hold how often. Call once, before anything is logged. */
void log_count_install(void);

/* Lines that contain the text, since the last call of log_count_reset(). */
unsigned log_count(const char *text);
void log_count_reset(void);

/* Bytes of the longest of them. */
size_t log_count_longest(void);
