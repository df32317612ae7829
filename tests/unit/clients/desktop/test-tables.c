/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/column-order.h"
#include "clients/desktop/tables/search-terms.h"

static void test_numbers(void)
{
        g_assert_cmpint(ald_order_numbers(1, 2, false), <, 0);
        g_assert_cmpint(ald_order_numbers(2, 1, false), >, 0);
        g_assert_cmpint(ald_order_numbers(2, 2, false), ==, 0);
        g_assert_cmpint(ald_order_numbers(-INFINITY, 0, false), <, 0);
        /* The view reverses it. */
        g_assert_cmpint(ald_order_numbers(1, 2, true), <, 0);
}

/* As a view does that sorts in this direction. */
static int in_view(int order, bool descending)
{
        return descending ? -order : order;
}

static void test_absent_is_last(void)
{
        for (int descending = 0; descending < 2; descending++) {
                g_assert_cmpint(in_view(ald_order_numbers(NAN, 1, descending), descending), >, 0);
                g_assert_cmpint(in_view(ald_order_numbers(1, NAN, descending), descending), <, 0);
                g_assert_cmpint(ald_order_numbers(NAN, NAN, descending), ==, 0);
                g_assert_cmpint(in_view(ald_order_keys(NULL, "a", descending), descending), >, 0);
                g_assert_cmpint(in_view(ald_order_keys("a", NULL, descending), descending), <, 0);
                g_assert_cmpint(ald_order_keys(NULL, NULL, descending), ==, 0);
        }
}

static int order_of(const char *a, const char *b)
{
        g_autofree char *x = ald_order_key(a), *y = ald_order_key(b);

        return ald_order_keys(x, y, false);
}

static void test_texts(void)
{
        g_assert_cmpint(order_of("node9", "node10"), <, 0);
        g_assert_cmpint(order_of("10.0.0.2", "10.0.0.12"), <, 0);
        g_assert_cmpint(order_of("same", "same"), ==, 0);
        g_assert_null(ald_order_key(NULL));
        g_assert_null(ald_order_key(""));
        g_assert_null(ald_order_key("–"));
}

static bool matches(const char *typed, const char *text)
{
        g_auto(GStrv) terms = ald_search_terms_new(typed);

        return ald_search_terms_match((const char *const *) terms, text);
}

static void test_search(void)
{
        g_assert_true(matches("", "anything"));
        g_assert_true(matches("  \t", "anything"));
        g_assert_true(matches("DEB", "alder\nDebian GNU/Linux 12"));
        g_assert_true(matches("12 alder", "alder\nDebian GNU/Linux 12"));
        g_assert_false(matches("alder 13", "alder\nDebian GNU/Linux 12"));
        g_assert_true(matches("straße", "STRASSE"));
        /* One letter with an accent, or two characters. */
        g_assert_true(matches("cafe\u0301", "Caf\u00e9"));
        g_assert_false(matches("x", "\xff"));
        g_assert_true(matches("%s", "100 %s"));
}

static bool narrows(const char *before, const char *now)
{
        g_auto(GStrv) a = ald_search_terms_new(before), b = ald_search_terms_new(now);

        return ald_search_terms_narrow((const char *const *) a, (const char *const *) b);
}

static void test_narrow(void)
{
        g_assert_true(narrows("", "a"));
        g_assert_true(narrows("a", "ab"));
        g_assert_true(narrows("a", "b a"));
        g_assert_false(narrows("ab", "a"));
        g_assert_false(narrows("a", ""));
        g_assert_true(narrows("", ""));
        /* Not across two words. */
        g_assert_false(narrows("ab", "a b"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/desktop/tables/numbers", test_numbers);
        g_test_add_func("/desktop/tables/absent-is-last", test_absent_is_last);
        g_test_add_func("/desktop/tables/texts", test_texts);
        g_test_add_func("/desktop/tables/search", test_search);
        g_test_add_func("/desktop/tables/narrow", test_narrow);
        return g_test_run();
}
