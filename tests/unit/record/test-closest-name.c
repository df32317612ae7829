/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/closest-name.h"

static void test_edits(void)
{
        static const struct {
                const char *a, *b;
                unsigned edits;
        } cases[] = {
                { "", "", 0 },
                { "", "abc", 3 },
                { "abc", "", 3 },
                { "status", "STATUS", 0 },
                { "stauts", "status", 1 },
                { "join", "jion", 1 },
                { "nodes", "ndes", 1 },
                { "nodes", "noodes", 1 },
                { "links", "list", 3 },
                { "kitten", "sitting", 3 },
        };
        g_autofree char *longer = g_strnfill(300, 'x');

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpuint(ald_edit_distance(cases[i].a, cases[i].b), ==, cases[i].edits);
        g_assert_cmpuint(ald_edit_distance(longer, longer), ==, 300 - 127);
}

static void test_closest(void)
{
        static const char *const names[] = { "status", "nodes", "node1", "node2", "join", "join", NULL };
        static const struct {
                const char *word, *closest;
        } cases[] = {
                { "stauts", "status" },
                { "statusses", "status" },
                { "jion", "join" },
                { "node3", NULL }, /* may be any of three */
                { "nodess", "nodes" },
                { "jo", NULL },
                { "frobnicate", NULL },
                { "", NULL },
        };
        g_autofree char *longer = g_strnfill(1000, 'x');

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpstr(ald_closest_name(cases[i].word, names), ==, cases[i].closest);
        g_assert_null(ald_closest_name(longer, names));
        g_assert_null(ald_closest_name("status", (const char *const[]){ NULL }));
}

static void test_options(void)
{
        static const GOptionEntry entries[] = {
                { "host", 'H', 0, G_OPTION_ARG_STRING, NULL, "", "HOST" },
                { "version", 0, 0, G_OPTION_ARG_NONE, NULL, "", NULL },
                {},
        };
        static const GOptionEntry *const tables[] = { entries, NULL };
        static const struct {
                const char *words[3], *suggestion;
        } cases[] = {
                { { "--hots=x", NULL }, "Unknown option --hots; did you mean --host?" },
                { { "--host=x", "--verison", NULL }, "Unknown option --verison; did you mean --version?" },
                { { "--hlep", NULL }, "Unknown option --hlep; did you mean --help?" },
                { { "--frobnicate", "--hots", NULL }, NULL },
                { { "--version", "hots", NULL }, NULL },
                { { "--", "--hots", NULL }, NULL },
                { { NULL }, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *found = ald_option_suggestion(tables, (char *const *) cases[i].words);

                g_assert_cmpstr(found, ==, cases[i].suggestion);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/closest-name/edits", test_edits);
        g_test_add_func("/closest-name/closest", test_closest);
        g_test_add_func("/closest-name/options", test_options);
        return g_test_run();
}
