/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* What can be inhibited, as bits of a set. */
typedef enum AldInhibit {
        ALD_INHIBIT_COMPUTE = 1 << 0,
        ALD_INHIBIT_RDMA = 1 << 1,
        ALD_INHIBIT_LINK = 1 << 2,
} AldInhibit;

#define ALD_INHIBIT_KINDS 3u
#define ALD_INHIBIT_TEXT_MAX 255u

/* Parses a list such as "compute:link"; -EINVAL for unknown or repeated words. */
int ald_inhibit_what_parse(const char *text);

/* The words of a set, in an order of their own; NULL-terminated. The strings are static. */
void ald_inhibit_what_words(unsigned what, const char *ret[static ALD_INHIBIT_KINDS + 1]);

/* Whether the text is valid for Who or Why: not empty, printable, not too long. */
bool ald_inhibit_text_ok(const char *text);
