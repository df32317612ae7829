/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/character.h"

bool ald_character_is_unsafe(gunichar c)
{
        switch (g_unichar_type(c)) {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT:
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
        case G_UNICODE_SURROGATE:
                return true;
        default:
                return false;
        }
}

char *ald_characters_replace_unsafe(const char *utf8)
{
        GString *safe = NULL;

        for (const char *at = utf8; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);
                bool unsafe = ald_character_is_unsafe(c);

                if (unsafe && !safe)
                        safe = g_string_new_len(utf8, at - utf8);
                if (safe)
                        g_string_append_unichar(safe, unsafe ? ALD_CHARACTER_REPLACED : c);
        }
        return safe ? g_string_free(safe, FALSE) : NULL;
}
