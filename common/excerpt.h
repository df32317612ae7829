/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The beginning of an untrusted text, safe for an error or a log line: at most ALD_EXCERPT_MAX whole
 * characters, with '?' for those that are not printable. Free with g_free().
 */
#define ALD_EXCERPT_MAX 64u
char *ald_excerpt(const char *text);

/* The same for a sentence with an untrusted text in its middle: if it is longer than twice that, it is cut in
 * the middle. */
char *ald_excerpt_ends(const char *text);
