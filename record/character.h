/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* U+FFFD, which stands for a character that must not be shown. */
#define ALD_CHARACTER_REPLACED 0xFFFDu

/*
 * Returns whether a character does more than show a glyph, such as a control, a format or a line separator;
 * or shows nothing although it is not a space; or shows unpredictably, as do private use and characters that
 * Unicode does not define.
 */
bool ald_character_is_unsafe(gunichar c);

/*
 * Returns a copy of valid UTF-8 in which unsafe characters are replaced, and combining marks beyond the
 * eighth on one character are dropped, since they would overlay other lines; NULL if nothing needs to change.
 * Free with g_free().
 */
char *ald_characters_replace_unsafe(const char *utf8);

/* Returns whether valid UTF-8 has a character that can be seen and told apart: something other than spaces,
 * marks and replaced characters. */
bool ald_characters_are_visible(const char *utf8);

/* Returns how many bytes at the beginning of a text are printable ASCII, which is most text; each is safe and
 * one column wide. */
static inline size_t ald_characters_plain(const char *text)
{
        size_t n = 0;

        while (text[n] >= ' ' && text[n] < 0x7f)
                n++;
        return n;
}
