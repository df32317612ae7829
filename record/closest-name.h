/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What a mistyped word may have meant. */

/* How many letters must be changed, added or left out; case does not count. Of `b`, the first 127 bytes do.
 */
unsigned ald_edit_distance(const char *a, const char *b);

/* Whether this many edits may be a slip: one for every four letters of the word or fewer. */
bool ald_edits_are_few(const char *word, unsigned distance);

/* The name that a word of at least three letters most likely means; NULL if none is close, or several are
 * equally close. The list ends with NULL. */
const char *ald_closest_name(const char *word, const char *const *names);

/* "Unknown option --hots; did you mean --host?", after GOption refused the command line: about its first long
 * option that is in none of the tables, whose list ends with NULL. NULL if no option is close. */
char *ald_option_suggestion(const GOptionEntry *const *tables, char *const *words);
