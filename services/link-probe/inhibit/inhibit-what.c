/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "services/link-probe/inhibit/inhibit-what.h"

#define WORD(NAME, word) word,
static const char *const words[ALD_INHIBIT_KINDS] = { ALD_INHIBIT_LIST(WORD) };

static int find_word(const char *text, size_t length)
{
        for (unsigned i = 0; i < ALD_INHIBIT_KINDS; i++)
                if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
                        return 1 << i;
        return -EINVAL;
}

int ald_inhibit_what_parse(const char *text)
{
        int what = 0;

        for (;;) {
                size_t length = strcspn(text, ":");
                int bit = find_word(text, length);

                if (bit < 0 || what & bit)
                        return -EINVAL;
                what |= bit;
                if (text[length] == '\0')
                        return what;
                text += length + 1;
        }
}

void ald_inhibit_what_words(unsigned what, const char *ret[static ALD_INHIBIT_KINDS + 1])
{
        unsigned n = 0;

        for (unsigned i = 0; i < ALD_INHIBIT_KINDS; i++)
                if (what & (1u << i))
                        ret[n++] = words[i];
        ret[n] = NULL;
}

char *ald_inhibit_what_list(void)
{
        GString *text = g_string_new(words[0]);

        for (unsigned i = 1; i < ALD_INHIBIT_KINDS; i++)
                g_string_append_printf(text, "%s%s", i + 1 < ALD_INHIBIT_KINDS ? ", " : " and ", words[i]);
        return g_string_free(text, FALSE);
}

bool ald_inhibit_text_ok(const char *text)
{
        size_t length = strlen(text);

        if (length == 0 || length > ALD_INHIBIT_TEXT_MAX || !g_utf8_validate(text, (gssize) length, NULL))
                return false;
        for (; *text; text = g_utf8_next_char(text))
                if (!g_unichar_isprint(g_utf8_get_char(text)))
                        return false;
        return true;
}
