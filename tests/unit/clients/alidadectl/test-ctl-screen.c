/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/watch/screen.h"
#include "clients/command-line/terminal-text.h"

#define COLUMNS 24
#define ROWS 4

/* A terminal that knows just the sequences that a screen may send; another one is a failure. */
typedef struct Terminal {
        gunichar cells[ROWS][COLUMNS]; /* 0: the right half of a wide character */
        char styles[ROWS][COLUMNS];
        unsigned row, column;
        char style;
} Terminal;

static void terminal_blank(Terminal *terminal, unsigned row, unsigned from)
{
        for (unsigned c = from; c < COLUMNS; c++) {
                terminal->cells[row][c] = ' ';
                terminal->styles[row][c] = 1;
        }
}

static char style_of(const char *sequence, size_t length)
{
        for (char marker = 1; marker < ALD_N_STYLES; marker++)
                if (strlen(ald_style_sequence(marker)) == length &&
                        memcmp(ald_style_sequence(marker), sequence, length) == 0)
                        return marker;
        g_assert_not_reached();
}

/* One sequence that begins with ESC [; returns its length. */
static size_t terminal_obey(Terminal *terminal, const char *sequence)
{
        size_t length = 2 + strcspn(sequence + 2, "HJKhlm") + 1;

        switch (sequence[length - 1]) {
        case 'H':
                g_assert_cmpint(sscanf(sequence, "\033[%u;%uH", &terminal->row, &terminal->column), ==, 2);
                terminal->row--;
                terminal->column--;
                break;
        case 'J':
                for (unsigned r = 0; r < ROWS; r++)
                        terminal_blank(terminal, r, 0);
                break;
        case 'K':
                g_assert_cmpint(terminal->style, ==, 1); /* else it would leave coloured blanks */
                terminal_blank(terminal, terminal->row, terminal->column);
                break;
        case 'm':
                terminal->style = style_of(sequence, length);
                break;
        default:
                g_assert_true(g_str_has_prefix(sequence, "\033[?2026"));
        }
        return length;
}

/* Half a wide character cannot stay when the other half is written over. */
static void terminal_break(Terminal *terminal, unsigned column)
{
        gunichar *row = terminal->cells[terminal->row];

        if (row[column] == 0)
                row[column - 1] = ' ';
        if (column + 1 < COLUMNS && row[column + 1] == 0)
                row[column + 1] = ' ';
}

static void terminal_put(Terminal *terminal, gunichar c)
{
        unsigned width = ald_char_width(c);

        if (width == 0)
                return;
        g_assert_cmpuint(terminal->row, <, ROWS);
        g_assert_cmpuint(terminal->column + width, <=, COLUMNS);
        for (unsigned i = 0; i < width; i++) {
                terminal_break(terminal, terminal->column + i);
                terminal->cells[terminal->row][terminal->column + i] = i == 0 ? c : 0;
                terminal->styles[terminal->row][terminal->column + i] = terminal->style;
        }
        terminal->column += width;
}

static void terminal_write(Terminal *terminal, const char *bytes)
{
        for (const char *p = bytes; *p;)
                if (*p == '\033')
                        p += terminal_obey(terminal, p);
                else {
                        terminal_put(terminal, g_utf8_get_char(p));
                        p = g_utf8_next_char(p);
                }
}

/* What a row must look like: the text, cut and padded. */
static void assert_row(Terminal *terminal, unsigned row, const char *text)
{
        unsigned column = 0;
        char style = 1;

        for (const char *p = text; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);
                unsigned width = ald_char_width(c);

                if (c < ALD_N_STYLES)
                        style = (char) c;
                if (width == 0)
                        continue;
                if (column + width > COLUMNS)
                        break;
                g_assert_cmpuint(terminal->cells[row][column], ==, c);
                g_assert_cmpint(terminal->styles[row][column], ==, style);
                column += width;
        }
        for (; column < COLUMNS; column++)
                g_assert_cmpuint(terminal->cells[row][column], ==, ' ');
}

static char *random_line(void)
{
        static const char *const pieces[] = { "a", "bc ", "  ", "日", "本語", "é", "e\u0301", "█", "–",
                "🖥", ALD_STYLE_GOOD, ALD_STYLE_NORMAL, ALD_STYLE_BOLD, "0123456789" };
        GString *line = g_string_new(NULL);
        int n = g_test_rand_int_range(0, 12);

        for (int i = 0; i < n; i++)
                g_string_append(line, pieces[g_test_rand_int_range(0, G_N_ELEMENTS(pieces))]);
        g_string_append(line, ALD_STYLE_NORMAL);
        return g_string_free(line, FALSE);
}

/* However one picture follows another, the terminal shows the last. */
static void test_random_pictures(void)
{
        g_autoptr(AldScreen) screen = ald_screen_new(true, true);
        char *lines[ROWS] = { NULL };
        Terminal terminal = { .style = 1 };

        memset(terminal.cells, 'x', sizeof(terminal.cells));
        ald_screen_resize(screen, COLUMNS, ROWS);
        for (int picture = 0; picture < 3000; picture++) {
                g_autoptr(GString) out = g_string_new(NULL);

                for (unsigned r = 0; r < ROWS; r++) {
                        if (!lines[r] || g_test_rand_bit()) {
                                g_free(lines[r]);
                                lines[r] = random_line();
                        }
                        ald_screen_set_row(screen, r, lines[r]);
                }
                (void) ald_screen_flush(screen, out);
                terminal_write(&terminal, out->str);
                for (unsigned r = 0; r < ROWS; r++)
                        assert_row(&terminal, r, lines[r]);
        }
        for (unsigned r = 0; r < ROWS; r++)
                g_free(lines[r]);
}

static size_t flush(AldScreen *screen)
{
        g_autoptr(GString) out = g_string_new(NULL);

        g_assert_cmpint(ald_screen_flush(screen, out), ==, out->len > 0);
        return out->len;
}

/* Nothing changed, nothing is sent; little changed, little is sent. */
static void test_only_what_changed(void)
{
        g_autoptr(AldScreen) screen = ald_screen_new(true, true);

        ald_screen_resize(screen, 80, 3);
        ald_screen_set_row(screen, 0, "atlas       3 s ago   45.1/62.7 GiB   12 %");
        ald_screen_set_row(screen, 1, "borealis    3 s ago   45.1/62.7 GiB   12 %");
        g_assert_cmpuint(flush(screen), >, 80);
        g_assert_cmpuint(flush(screen), ==, 0);
        ald_screen_set_row(screen, 0, "atlas       4 s ago   45.1/62.7 GiB   12 %");
        g_assert_cmpuint(flush(screen), <, 40);
        g_assert_cmpuint(flush(screen), ==, 0);
        /* After a resize nobody knows what the terminal shows. */
        ald_screen_resize(screen, 80, 3);
        ald_screen_set_row(screen, 0, "atlas");
        g_assert_cmpuint(flush(screen), >, 5);
}

static void test_plain(void)
{
        g_autoptr(AldScreen) screen = ald_screen_new(false, false);
        g_autoptr(GString) out = g_string_new(NULL);

        ald_screen_resize(screen, 40, 1);
        ald_screen_set_row(screen, 0, ALD_STYLE_ERROR "61 °C" ALD_STYLE_NORMAL " – 日本");
        (void) ald_screen_flush(screen, out);
        g_assert_null(strstr(out->str, "\033[0;31m"));
        for (const char *p = out->str; *p; p++)
                g_assert_cmpint(*p, >, 0);
        g_assert_nonnull(strstr(out->str, "61  C"));
}

static void test_odd_sizes(void)
{
        g_autoptr(AldScreen) screen = ald_screen_new(true, true);

        ald_screen_resize(screen, 0, 0);
        ald_screen_set_row(screen, 0, "日");
        ald_screen_set_row(screen, 5, "beyond");
        (void) flush(screen);
        ald_screen_resize(screen, 1000000, 1000000);
        g_assert_cmpuint(ald_screen_columns(screen), <=, 1000);
        g_assert_cmpuint(ald_screen_rows(screen), <=, 500);
        (void) flush(screen);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl/screen/random-pictures", test_random_pictures);
        g_test_add_func("/ctl/screen/only-what-changed", test_only_what_changed);
        g_test_add_func("/ctl/screen/plain", test_plain);
        g_test_add_func("/ctl/screen/odd-sizes", test_odd_sizes);
        return g_test_run();
}
