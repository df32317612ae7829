/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* U+FFFD, which stands for a character that must not be shown. */
#define ALD_CHARACTER_REPLACED 0xFFFDu

/* Whether a character has other effects than being shown: controls, formats, line separators. */
bool ald_character_is_unsafe(gunichar c);

/* A copy of valid UTF-8 with these replaced, or NULL if it has none. Free with g_free(). */
char *ald_characters_replace_unsafe(const char *utf8);
