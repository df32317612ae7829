/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/character.h"

/* No script of a living language puts more marks on one character. */
#define MARKS_MAX 8u

/* Returns whether a character is a letter or symbol without a glyph. */
static bool is_blank(gunichar c)
{
        switch (c) {
        case 0x115F: /* fillers of Hangul */
        case 0x1160:
        case 0x3164:
        case 0xFFA0:
        case 0x2800:  /* a Braille pattern without dots */
        case 0x13441: /* blanks between hieroglyphs */
        case 0x13442:
        case 0x1D159: /* the null notehead */
                return true;
        default:
                return false;
        }
}

bool ald_character_is_unsafe(gunichar c)
{
        switch (g_unichar_type(c)) {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT:
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
        case G_UNICODE_PRIVATE_USE:
        case G_UNICODE_SURROGATE:
        case G_UNICODE_UNASSIGNED:
                return true;
        default:
                return is_blank(c);
        }
}

char *ald_characters_replace_unsafe(const char *utf8)
{
        GString *safe = NULL;
        unsigned marks = 0;

        for (const char *at = utf8; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);
                bool unsafe = ald_character_is_unsafe(c);

                marks = g_unichar_ismark(c) ? marks + 1 : 0;
                if ((unsafe || marks > MARKS_MAX) && !safe)
                        safe = g_string_new_len(utf8, at - utf8);
                if (safe && marks <= MARKS_MAX)
                        g_string_append_unichar(safe, unsafe ? ALD_CHARACTER_REPLACED : c);
        }
        return safe ? g_string_free(safe, FALSE) : NULL;
}

bool ald_characters_are_visible(const char *utf8)
{
        for (const char *at = utf8; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                if (c != ALD_CHARACTER_REPLACED && !g_unichar_isspace(c) && !g_unichar_ismark(c) &&
                        !ald_character_is_unsafe(c))
                        return true;
        }
        return false;
}
