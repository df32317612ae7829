/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Returns the beginning of an untrusted text, safe for an error or a log line: at most ALD_EXCERPT_MAX whole
 * characters, with '?' for those that are not printable. Free with g_free().
 */
#define ALD_EXCERPT_MAX 64u
char *ald_excerpt(const char *text);

/* Returns an excerpt of a sentence with an untrusted text in its middle. If it is longer than twice
 * ALD_EXCERPT_MAX, its middle is cut out. Free with g_free(). */
char *ald_excerpt_ends(const char *text);
