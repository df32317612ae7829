/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Returns the words that a user has typed, normalized so that case and the encoding of accents do not matter.
 * Returns NULL if there are none. */
GStrv ald_search_terms_new(const char *typed);

/* Returns whether the text contains all terms, anywhere and in any order. NULL terms match everything. */
bool ald_search_terms_match(const char *const *terms, const char *text);

/* Returns whether everything that matches `now` also matches `before`; either may be NULL. */
bool ald_search_terms_narrow(const char *const *before, const char *const *now);
