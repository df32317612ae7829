/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "common/excerpt.h"

static void append_printable(GString *excerpt, const char *text, unsigned n_max)
{
        for (unsigned i = 0; *text && i < n_max; i++) {
                gunichar c = g_utf8_get_char_validated(text, -1);
                bool valid = c < (gunichar) -2;

                g_string_append_unichar(excerpt, valid && g_unichar_isprint(c) ? c : '?');
                text = valid ? g_utf8_next_char(text) : text + 1;
        }
}

char *ald_excerpt(const char *text)
{
        GString *excerpt = g_string_new(NULL);

        append_printable(excerpt, text, ALD_EXCERPT_MAX);
        return g_string_free(excerpt, FALSE);
}

char *ald_excerpt_ends(const char *text)
{
        GString *excerpt = g_string_new(NULL);
        size_t n = strlen(text);
        const char *tail = text + n - MIN(n, ALD_EXCERPT_MAX);

        if (n <= 2 * ALD_EXCERPT_MAX) {
                append_printable(excerpt, text, 2 * ALD_EXCERPT_MAX);
                return g_string_free(excerpt, FALSE);
        }
        /* The tail must not begin within a character. */
        while ((*tail & 0xc0) == 0x80)
                tail++;
        append_printable(excerpt, text, ALD_EXCERPT_MAX);
        g_string_append(excerpt, "…");
        append_printable(excerpt, tail, ALD_EXCERPT_MAX);
        return g_string_free(excerpt, FALSE);
}
