/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "clients/command-line/terminal-text.h"

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

/* How good something is shows in its style, and nothing in that of plain text. */
static void test_tones(void)
{
        g_autofree char *bad = ald_text_toned(ALD_TONE_ERROR, "offline");
        g_autofree char *plain = ald_text_toned(ALD_TONE_PLAIN, "live");

        g_assert_cmpstr(bad, ==, ALD_STYLE_ERROR "offline" ALD_STYLE_NORMAL);
        g_assert_cmpstr(plain, ==, "live");
        g_assert_cmpstr(ald_tone_style(ALD_TONE_GOOD), ==, ALD_STYLE_GOOD);
        g_assert_cmpstr(ald_tone_style(ALD_TONE_WARNING), ==, ALD_STYLE_WARNING);
        g_assert_cmpstr(ald_tone_style(ALD_TONE_FAINT), ==, ALD_STYLE_DIM);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl/text/width", test_width);
        g_test_add_func("/ctl/text/fit", test_fit);
        g_test_add_func("/ctl/text/wrap", test_wrap);
        g_test_add_func("/ctl/text/wrap-random", test_wrap_random);
        g_test_add_func("/ctl/text/render", test_render);
        g_test_add_func("/ctl/text/tones", test_tones);
        return g_test_run();
}
