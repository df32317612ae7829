/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Stands for an absent value. */
#define ALD_ABSENT_TEXT "–"

/*
 * What other machines sent is shown to people through these functions alone: it may hold what a terminal
 * obeys, what shows text in another order, or what overlays its surroundings.
 */

/* Whether a character does more than show itself: controls, formats, line separators. */
bool ald_char_is_unsafe(gunichar c);

/* A copy in which every character only shows itself; bad UTF-8 and all others become U+FFFD. It holds no
 * control character, so that a caller can use these as marks of its own. Free with g_free(). */
char *ald_text_safe(const char *text);

/* The same; NULL for NULL. */
char *ald_text_safe_or_null(const char *text);
