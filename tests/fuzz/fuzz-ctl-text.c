/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "clients/alidadectl/watch/terminal.h"
#include "clients/command-line/terminal-text.h"
#include "record/character.h"

#define COLUMNS 30

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
        g_autofree char *safe = ald_text_safe(text);
        g_autofree char *fitted = ald_text_fit(safe, COLUMNS, true);
        g_autofree char *ascii = ald_text_render(safe, false, false);
        g_autoptr(GString) wrapped = g_string_new(NULL);
        g_auto(GStrv) lines = NULL;

        g_assert_true(g_utf8_validate(safe, -1, NULL));
        for (const char *p = safe; *p; p = g_utf8_next_char(p))
                g_assert_false(ald_character_is_unsafe(g_utf8_get_char(p)));
        g_assert_cmpuint(ald_text_width(fitted), ==, COLUMNS);
        g_assert_true(g_str_is_ascii(ascii));
        g_assert_cmpuint(ald_text_width(ascii), ==, ald_text_width(safe));
        ald_text_wrap(wrapped, safe, COLUMNS, 0);
        lines = g_strsplit(wrapped->str, "\n", -1);
        for (char **line = lines; *line; line++)
                g_assert_cmpuint(ald_text_width(*line), <=, COLUMNS);
}

static void check_keys(const char *bytes, size_t n)
{
        AldKey key;

        while (n > 0) {
                size_t used = ald_terminal_parse_key(bytes, n, &key);

                g_assert_cmpuint(used, <=, n);
                if (used == 0)
                        return;
                bytes += used;
                n -= used;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);

        check_text(text);
        check_keys((const char *) data, size);
        return 0;
}
