/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"

static const AldColumn columns[] = {
        { "NAME", .least = 4, .flexible = true },
        { "SIZE", .right = true },
        { "CPU", .right = true, .least = 5, .priority = 1 },
        { "NOTE", .priority = 2 },
};

static AldTable *make_table(void)
{
        AldTable *table = ald_table_new(columns, G_N_ELEMENTS(columns));
        static const char *const cells[] = { "atlas", "64 GiB", "12 %", "first", "日本語ノード", "–", "100 %",
                "" };

        for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
                ald_table_add(table, g_strdup(cells[i]));
        return table;
}

static void assert_line(AldTable *table, int row, const char *expected)
{
        g_autofree char *line = ald_table_line(table, row), *plain = ald_text_render(line, false, true);

        g_assert_cmpstr(plain, ==, expected);
}

static void test_unlimited(void)
{
        g_autoptr(AldTable) table = make_table();

        g_assert_cmpuint(ald_table_rows(table), ==, 2);
        ald_table_layout(table, 0, NULL);
        assert_line(table, -1, "NAME            SIZE    CPU  NOTE");
        assert_line(table, 0, "atlas         64 GiB   12 %  first");
        assert_line(table, 1, "日本語ノード       –  100 %  ");
}

static void test_narrow(void)
{
        g_autoptr(AldTable) table = make_table();

        /* The name gives way first, as far as it can; then columns go. */
        ald_table_layout(table, 27, NULL);
        assert_line(table, 0, "atlas  64 GiB   12 %  first");
        assert_line(table, 1, "日本…       –  100 %  ");
        ald_table_layout(table, 22, NULL);
        assert_line(table, 0, "atlas    64 GiB   12 %");
        ald_table_layout(table, 12, NULL);
        assert_line(table, 0, "atl…  64 GiB");
}

static void test_always_fits(void)
{
        for (unsigned width = 12; width < 60; width++) {
                g_autoptr(AldTable) table = make_table();

                ald_table_layout(table, width, NULL);
                for (int row = -1; row < 2; row++) {
                        g_autofree char *line = ald_table_line(table, row);

                        g_assert_cmpuint(ald_text_width(line), <=, width);
                }
        }
}

static void assert_widths(AldTable *table, unsigned columns_of_screen, const char *expected)
{
        ald_table_layout(table, columns_of_screen, NULL);
        assert_line(table, 0, expected);
}

/* A name is wanted whole: columns go for it, but not those of priority 1. */
static void test_wanted(void)
{
        static const AldColumn wanting[] = {
                { "NAME", .least = 4, .flexible = true, .wanted = 12 },
                { "RATE", .right = true, .priority = 1 },
                { "AGE", .priority = 2 },
        };
        g_autoptr(AldTable) table = ald_table_new(wanting, G_N_ELEMENTS(wanting));
        static const char *const cells[] = { "borealis-node-1", "9 Gb/s", "3 s" };

        for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
                ald_table_add(table, g_strdup(cells[i]));
        assert_widths(table, 28, "borealis-node-1  9 Gb/s  3 s");
        assert_widths(table, 25, "borealis-no…  9 Gb/s  3 s");
        assert_widths(table, 24, "borealis-node-1  9 Gb/s");
        assert_widths(table, 16, "boreali…  9 Gb/s");
        assert_widths(table, 8, "boreali…");
}

/* A column that shows nothing goes before a name is cut. */
static void test_unknown(void)
{
        g_autoptr(AldTable) table = ald_table_new(columns, G_N_ELEMENTS(columns));
        static const char *const cells[] = { "borealis-node-1", "64 GiB", "12 %", ALD_ABSENT_TEXT };

        for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
                ald_table_add(table, g_strdup(cells[i]));
        assert_widths(table, 37, "borealis-node-1  64 GiB   12 %  –");
        assert_widths(table, 30, "borealis-node-1  64 GiB   12 %");
        assert_widths(table, 29, "borealis-node…  64 GiB   12 %");
}

static void test_empty(void)
{
        g_autoptr(AldTable) table = ald_table_new(columns, G_N_ELEMENTS(columns));

        ald_table_layout(table, 80, NULL);
        g_assert_cmpuint(ald_table_rows(table), ==, 0);
        assert_line(table, -1, "NAME  SIZE");
}

static void test_floors(void)
{
        unsigned floors[G_N_ELEMENTS(columns)] = { 0 };
        g_autoptr(AldTable) wide = make_table(), narrow = ald_table_new(columns, G_N_ELEMENTS(columns));
        static const char *const cells[] = { "a", "1 B", "1 %", "x" };

        for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
                ald_table_add(narrow, g_strdup(cells[i]));
        ald_table_layout(wide, 80, floors);
        ald_table_layout(narrow, 80, floors);
        assert_line(narrow, 0, "a                1 B    1 %  x");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl/table/unlimited", test_unlimited);
        g_test_add_func("/ctl/table/narrow", test_narrow);
        g_test_add_func("/ctl/table/always-fits", test_always_fits);
        g_test_add_func("/ctl/table/wanted", test_wanted);
        g_test_add_func("/ctl/table/unknown", test_unknown);
        g_test_add_func("/ctl/table/empty", test_empty);
        g_test_add_func("/ctl/table/floors", test_floors);
        return g_test_run();
}
