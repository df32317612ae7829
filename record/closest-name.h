/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Guesses what a mistyped word was meant to be. */

/* Returns how many letters must be changed, added, left out or swapped; case does not count. Only the first
 * 127 bytes of `b` are compared. */
unsigned ald_edit_distance(const char *a, const char *b);

/* Returns whether this many edits may be a slip: at most one for every four letters of the word, or part of
 * four. */
bool ald_edits_are_few(const char *word, unsigned distance);

/* Returns the name that a word of at least three letters most likely means; NULL if none is close, or several
 * are equally close. The list ends with NULL. */
const char *ald_closest_name(const char *word, const char *const *names);

/* After GOption has refused a command line, suggests a name for its first long option that is in none of the
 * tables: "Unknown option --hots; did you mean --host?". The list of tables ends with NULL. Returns NULL if
 * no option is close. */
char *ald_option_suggestion(const GOptionEntry *const *tables, char *const *words);
