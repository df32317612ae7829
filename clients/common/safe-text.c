/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/safe-text.h"
#include "record/character.h"

#define MARKS_MAX 4 /* combining marks on one character */

static bool is_variation_selector(gunichar c)
{
        return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
}

char *ald_text_safe(const char *text)
{
        size_t plain = ald_characters_plain(text);
        g_autoptr(GString) out = g_string_new_len(text, (gssize) plain);
        unsigned marks = plain > 0 ? 0 : MARKS_MAX;

        for (const char *p = text + plain; *p;) {
                gunichar c = g_utf8_get_char_validated(p, -1);
                bool valid = c < 0x110000;

                p = valid ? g_utf8_next_char(p) : p + 1;
                if (valid && is_variation_selector(c))
                        continue;
                if (!valid || ald_character_is_unsafe(c))
                        c = ALD_CHARACTER_REPLACED;
                if (!g_unichar_iszerowidth(c))
                        marks = 0;
                else if (marks++ >= MARKS_MAX)
                        continue;
                g_string_append_unichar(out, c);
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *ald_text_safe_or_null(const char *text)
{
        return text ? ald_text_safe(text) : NULL;
}

char *ald_text_shortened(const char *text, glong length)
{
        g_autofree char *begin = NULL;

        if (g_utf8_strlen(text, -1) <= length)
                return g_strdup(text);
        begin = g_utf8_substring(text, 0, length - 1);
        return g_strconcat(begin, "…", NULL);
}
