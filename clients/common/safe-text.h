/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/figure-text.h"

/*
 * Text from other machines must be shown through these functions only: it may contain control sequences,
 * bidirectional overrides, or combining characters that overlay their surroundings.
 */

/* Returns a copy without unsafe characters, which become U+FFFD, as does invalid UTF-8. It contains no
 * control characters, so callers can use these as markers. Free with g_free(). */
char *ald_text_safe(const char *text);

/* Returns the same; NULL for NULL. */
char *ald_text_safe_or_null(const char *text);

/* Returns at most this many characters of a text, with an ellipsis if that is not all; to be freed. Widgets
 * would grow with longer ones. */
char *ald_text_shortened(const char *text, glong length);
