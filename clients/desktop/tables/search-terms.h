/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The words that a user has typed, without regard to case and the form in which accents are written. NULL if
 * there are none. */
GStrv ald_search_terms_new(const char *typed);

/* Whether the text contains all of them, anywhere and in any order. Everything contains no words (NULL). */
bool ald_search_terms_match(const char *const *terms, const char *text);

/* Whether all that matches `now` matches `before` as well; either may be NULL. */
bool ald_search_terms_narrow(const char *const *before, const char *const *now);
