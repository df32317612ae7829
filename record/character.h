/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* U+FFFD, which stands for a character that must not be shown. */
#define ALD_CHARACTER_REPLACED 0xFFFDu

/*
 * Whether a character has other effects than being shown, such as controls, formats and line separators; or
 * is shown as nothing, though it is no space; or as nobody knows what, as is the case for private use and for
 * characters that Unicode does not define.
 */
bool ald_character_is_unsafe(gunichar c);

/*
 * A copy of valid UTF-8 with these replaced, and without combining marks beyond the eighth of a character,
 * which would overlay other lines; NULL if there is nothing to change. Free with g_free().
 */
char *ald_characters_replace_unsafe(const char *utf8);

/* Whether anything of valid UTF-8 can be seen and told apart: more than spaces, marks and what was replaced.
 */
bool ald_characters_are_visible(const char *utf8);
