/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/listed-name.h"

/* In place of that of GLib: a language in which all texts are other ones, with its own quotes. */
const char *g_dgettext(const char *domain, const char *msgid)
{
        return "„%s“";
}

/* Names in a list can be told apart, whatever characters they have and in any language. */
static void test_quotes(void)
{
        static const char *const cases[][2] = { { "alder", "alder" }, { "rack 3, top", "\"rack 3, top\"" },
                { "a; b", "\"a; b\"" }, { "a\", \"b", "\"a\\\", \\\"b\"" }, { "\"a\"", "\"\\\"a\\\"\"" },
                { "a\\b", "a\\b" }, { "a\\, b", "\"a\\\\, b\"" }, { "a“, „b", "\"a“, „b\"" }, { "", "" } };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *listed = ald_listed_name(cases[i][0]);

                g_assert_cmpstr(listed, ==, cases[i][1]);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/listed-name/quotes", test_quotes);
        return g_test_run();
}
