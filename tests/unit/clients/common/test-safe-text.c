/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/safe-text.h"
#include "clients/common/tone.h"
#include "record/character.h"

static void assert_safe(const char *text, const char *expected)
{
        g_autofree char *safe = ald_text_safe(text);

        g_assert_cmpstr(safe, ==, expected);
}

static void test_safe(void)
{
        assert_safe("plain", "plain");
        assert_safe("", "");
        assert_safe("日本語 é", "日本語 é");
        assert_safe("a\033[31mb", "a�[31mb");
        assert_safe("a\nb\tc\001", "a�b�c�");
        assert_safe("\xc2\x9b"
                    "31m",
                "�31m");                            /* CSI in one character */
        assert_safe("a\u202egnp.exe", "a�gnp.exe"); /* right-to-left override */
        assert_safe("\u2066x\u2069", "�x�");        /* isolates */
        assert_safe("\u200b\ufeff\u2028", "���");   /* zero width, line separator */
        assert_safe("\xff\xc3(", "��(");            /* no UTF-8 */
        assert_safe("\ue000", "�");                 /* private use: nobody knows how wide */
        assert_safe("\u3164\u2800", "��");          /* a letter and a symbol without a glyph */
        assert_safe("a\ufe0fb", "ab");              /* a variation selector would change the width */
        assert_safe("\u0301x", "x");                /* a mark with nothing to stand on */
        assert_safe("e\u0301", "e\u0301");
        assert_safe("e\u0301\u0301\u0301\u0301\u0301\u0301x", "e\u0301\u0301\u0301\u0301x");
}

/* Whatever comes in, nothing that a terminal obeys comes out. */
static void test_safe_random(void)
{
        for (int n = 0; n < 20000; n++) {
                char bytes[24];
                g_autofree char *safe = NULL;
                size_t length = (size_t) g_test_rand_int_range(0, sizeof(bytes));

                for (size_t i = 0; i < length; i++)
                        bytes[i] = (char) g_test_rand_int_range(1, 256);
                bytes[length] = '\0';
                safe = ald_text_safe(bytes);
                g_assert_true(g_utf8_validate(safe, -1, NULL));
                for (const char *p = safe; *p; p = g_utf8_next_char(p))
                        g_assert_false(ald_character_is_unsafe(g_utf8_get_char(p)));
        }
}

static void test_parts(void)
{
        g_autoptr(GString) parts = g_string_new(NULL);

        ald_parts_add(parts, "%s free", NULL);
        ald_parts_add(parts, "%s free", g_strdup(""));
        ald_parts_add(parts, "%s free", g_strdup(ALD_ABSENT_TEXT));
        g_assert_cmpstr(parts->str, ==, "");
        ald_parts_add(parts, "%s free", g_strdup("3 GiB"));
        ald_parts_add_text(parts, "swap %s", "\033x");
        ald_parts_add_text(parts, "swap %s", NULL);
        g_assert_cmpstr(parts->str, ==, "3 GiB free, swap �x");
}

static void test_facts(void)
{
        g_autoptr(GPtrArray) facts = ald_facts_new();
        const AldFact *fact;

        ald_facts_add(facts, "Model", g_strdup(ALD_ABSENT_TEXT));
        ald_facts_add_known(facts, "Clock", g_strdup(""));
        ald_facts_add_known(facts, "Clock", NULL);
        ald_facts_add_toned(facts, "Seen", g_strdup("stale"), ALD_TONE_WARNING);
        g_assert_cmpuint(facts->len, ==, 2);
        g_assert_null(((const AldFact *) facts->pdata[0])->text);
        fact = facts->pdata[1];
        g_assert_cmpstr(fact->text, ==, "stale");
        g_assert_cmpint(fact->tone, ==, ALD_TONE_WARNING);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/safe-text/safe", test_safe);
        g_test_add_func("/safe-text/safe-random", test_safe_random);
        g_test_add_func("/safe-text/parts", test_parts);
        g_test_add_func("/safe-text/facts", test_facts);
        return g_test_run();
}
