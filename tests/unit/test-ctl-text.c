/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/text.h"

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
                        g_assert_false(ald_char_is_unsafe(g_utf8_get_char(p)));
        }
}

static void test_width(void)
{
        g_assert_cmpuint(ald_text_width(""), ==, 0);
        g_assert_cmpuint(ald_text_width("abc"), ==, 3);
        g_assert_cmpuint(ald_text_width("日本"), ==, 4);
        g_assert_cmpuint(ald_text_width("e\u0301"), ==, 1);
        g_assert_cmpuint(ald_text_width(ALD_STYLE_BOLD "ab" ALD_STYLE_NORMAL), ==, 2);
}

static void assert_fit(const char *text, unsigned columns, bool right, const char *expected)
{
        g_autofree char *fitted = ald_text_fit(text, columns, right);

        g_assert_cmpstr(fitted, ==, expected);
        g_assert_cmpuint(ald_text_width(fitted), ==, columns);
}

static void test_fit(void)
{
        assert_fit("abc", 5, false, "abc  ");
        assert_fit("abc", 5, true, "  abc");
        assert_fit("abcdef", 4, false, "abc…");
        assert_fit("abc", 0, false, "");
        assert_fit("日本語", 5, false, "日本…");
        assert_fit("日本語", 4, false, "日… ");
        assert_fit("日本語", 8, true, "  日本語");
        /* The style ends although what it is for was cut. */
        assert_fit(
                ALD_STYLE_ERROR "abcdef" ALD_STYLE_NORMAL, 3, false, ALD_STYLE_ERROR "ab…" ALD_STYLE_NORMAL);
}

static void assert_wrapped(const char *text, unsigned columns, unsigned indent, const char *expected)
{
        g_autoptr(GString) out = g_string_new(NULL);

        ald_text_wrap(out, text, columns, indent);
        g_assert_cmpstr(out->str, ==, expected);
}

static void test_wrap(void)
{
        assert_wrapped("one two three", 0, 2, "one two three");
        assert_wrapped("one two three", 9, 2, "one two\n  three");
        assert_wrapped("one two three", 7, 2, "one\n  two\n  three");
        assert_wrapped("abcdefghij", 6, 2, "abcd\n  efgh\n  ij");
        assert_wrapped("日本語", 5, 0, "日本\n語");
        assert_wrapped("", 10, 2, "");
}

static void test_wrap_random(void)
{
        static const char *const words[] = { "a", "bcd", "日本語の名前", "averyveryverylongword", "" };

        for (int n = 0; n < 2000; n++) {
                unsigned columns = (unsigned) g_test_rand_int_range(8, 60);
                unsigned indent = (unsigned) g_test_rand_int_range(0, 6);
                g_autoptr(GString) text = g_string_new(NULL), out = g_string_new(NULL);
                g_auto(GStrv) lines = NULL;

                for (int i = 0; i < 12; i++)
                        g_string_append_printf(
                                text, "%s ", words[g_test_rand_int_range(0, G_N_ELEMENTS(words))]);
                ald_text_wrap(out, text->str, columns, indent);
                lines = g_strsplit(out->str, "\n", -1);
                for (unsigned i = 0; lines[i]; i++)
                        g_assert_cmpuint(
                                ald_text_width(g_strchomp(lines[i])) + (i == 0 ? indent : 0), <=, columns);
        }
}

static void assert_rendered(const char *text, bool colours, bool utf8, const char *expected)
{
        g_autofree char *rendered = ald_text_render(text, colours, utf8);

        g_assert_cmpstr(rendered, ==, expected);
}

static void test_render(void)
{
        const char *text = ALD_STYLE_GOOD "61 °C" ALD_STYLE_NORMAL " –";

        assert_rendered(text, false, true, "61 °C –");
        assert_rendered(text, true, true, "\033[0;32m61 °C\033[0m –");
        assert_rendered(text, false, false, "61  C -");
        /* As wide in ASCII as before. */
        assert_rendered("日é☃x", false, false, "????x");
        assert_rendered("a ↔ b ─│┼ ≠ ←", false, false, "a = b -|+ ! <");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl/text/safe", test_safe);
        g_test_add_func("/ctl/text/safe-random", test_safe_random);
        g_test_add_func("/ctl/text/width", test_width);
        g_test_add_func("/ctl/text/fit", test_fit);
        g_test_add_func("/ctl/text/wrap", test_wrap);
        g_test_add_func("/ctl/text/wrap-random", test_wrap_random);
        g_test_add_func("/ctl/text/render", test_render);
        return g_test_run();
}
