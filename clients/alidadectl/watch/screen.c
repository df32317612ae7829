/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/watch/screen.h"
#include "clients/command-line/terminal-text.h"

#define COLUMNS_MAX 1000u
#define ROWS_MAX 500u
#define CELL_BYTES 22    /* a character and the marks on it */
#define UNCHANGED_MAX 4u /* moving the cursor costs more than writing this many cells again */

/* Terminals that support this show the whole change at once; others ignore it. */
#define BEGIN_UPDATE "\033[?2026h"
#define END_UPDATE "\033[?2026l"
#define CLEAR "\033[0m\033[2J"
#define CLEAR_TO_END "\033[K"

typedef struct Cell {
        char text[CELL_BYTES]; /* "" is the right half of a wide character */
        char style;
        bool ambiguous; /* terminals may disagree about its width */
} Cell;

struct AldScreen {
        unsigned columns, rows;
        Cell *wanted, *shown;
        bool colours, utf8;
        bool unknown; /* the contents of the terminal are unknown */
};

static const Cell blank = { .text = " ", .style = 1 };

AldScreen *ald_screen_new(bool colours, bool utf8)
{
        AldScreen *screen = g_new0(AldScreen, 1);

        screen->colours = colours;
        screen->utf8 = utf8;
        return screen;
}

void ald_screen_free(AldScreen *screen)
{
        if (!screen)
                return;
        g_free(screen->wanted);
        g_free(screen->shown);
        g_free(screen);
}

void ald_screen_resize(AldScreen *screen, unsigned columns, unsigned rows)
{
        size_t n;

        screen->columns = CLAMP(columns, 1, COLUMNS_MAX);
        screen->rows = CLAMP(rows, 1, ROWS_MAX);
        n = (size_t) screen->columns * screen->rows;
        screen->wanted = g_renew(Cell, screen->wanted, n);
        screen->shown = g_renew(Cell, screen->shown, n);
        for (size_t i = 0; i < n; i++)
                screen->wanted[i] = screen->shown[i] = blank;
        screen->unknown = true;
}

unsigned ald_screen_columns(AldScreen *screen)
{
        return screen->columns;
}

unsigned ald_screen_rows(AldScreen *screen)
{
        return screen->rows;
}

static void append_mark(Cell *cell, gunichar c)
{
        size_t used = strlen(cell->text);
        char bytes[6];
        int n = g_unichar_to_utf8(c, bytes);

        cell->ambiguous = true;
        if (used > 0 && used + (size_t) n < CELL_BYTES) {
                memcpy(cell->text + used, bytes, (size_t) n);
                cell->text[used + (size_t) n] = '\0';
        }
}

/* Sets one character; returns how many columns it took, 0 if it did not fit. */
static unsigned set_cell(AldScreen *screen, Cell *row, unsigned column, gunichar c, char style)
{
        unsigned width = ald_char_width(c);

        if (column + width > screen->columns)
                return 0;
        row[column] = (Cell){ .style = style, .ambiguous = width != 1 || c >= 0x2600 };
        if (c < 0x80 || screen->utf8)
                row[column].text[g_unichar_to_utf8(c, row[column].text)] = '\0';
        else
                (void) g_strlcpy(row[column].text, ald_char_ascii(c), CELL_BYTES);
        if (width == 2)
                row[column + 1] = (Cell){ .style = style };
        return width;
}

void ald_screen_set_row(AldScreen *screen, unsigned row, const char *text)
{
        Cell *cells, *last = NULL;
        unsigned column = 0;
        char style = 1;

        if (row >= screen->rows)
                return;
        cells = screen->wanted + (size_t) row * screen->columns;
        for (const char *p = text; *p && column < screen->columns; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);
                unsigned width;

                if (c < ALD_N_STYLES)
                        style = screen->colours ? (char) c : 1;
                else if (ald_char_width(c) == 0) {
                        if (last && screen->utf8)
                                append_mark(last, c);
                } else {
                        width = set_cell(screen, cells, column, c, style);
                        if (width == 0)
                                break;
                        last = cells + column;
                        column += width;
                }
        }
        for (; column < screen->columns; column++)
                cells[column] = blank;
}

static bool is_same_cell(const Cell *a, const Cell *b)
{
        return a->style == b->style && strcmp(a->text, b->text) == 0;
}

/* Returns the column after the last cell that is not blank. */
static unsigned used_columns(AldScreen *screen, const Cell *cells)
{
        unsigned n = screen->columns;

        while (n > 0 && is_same_cell(&cells[n - 1], &blank))
                n--;
        return n;
}

typedef struct Pen {
        GString *out;
        char style;
        bool placed; /* the cursor is where the next cell goes */
} Pen;

static void set_style(AldScreen *screen, Pen *pen, char style)
{
        if (screen->colours && pen->style != style)
                g_string_append(pen->out, ald_style_sequence(style));
        pen->style = style;
}

static void draw_cell(AldScreen *screen, Pen *pen, unsigned row, unsigned column, const Cell *cell)
{
        if (!pen->placed)
                g_string_append_printf(pen->out, "\033[%u;%uH", row + 1, column + 1);
        set_style(screen, pen, cell->style);
        g_string_append(pen->out, cell->text);
        pen->placed = !cell->ambiguous;
}

/* Returns true if one of the next few cells has changed, so that it is cheaper to write up to there. */
static bool change_is_near(const Cell *wanted, const Cell *shown, unsigned column, unsigned end)
{
        for (unsigned c = column; c < end && c < column + UNCHANGED_MAX; c++)
                if (!is_same_cell(&wanted[c], &shown[c]))
                        return true;
        return false;
}

static void flush_row(AldScreen *screen, Pen *pen, unsigned row)
{
        Cell *wanted = screen->wanted + (size_t) row * screen->columns;
        Cell *shown = screen->shown + (size_t) row * screen->columns;
        unsigned end = used_columns(screen, wanted);

        pen->placed = false;
        for (unsigned column = 0; column < end; column++) {
                bool write = pen->placed ? change_is_near(wanted, shown, column, end)
                                         : !is_same_cell(&wanted[column], &shown[column]);

                if (!write)
                        pen->placed = false;
                else if (wanted[column].text[0])
                        draw_cell(screen, pen, row, column, &wanted[column]);
        }
        if (used_columns(screen, shown) > end) {
                g_string_append_printf(pen->out, "\033[%u;%uH", row + 1, end + 1);
                set_style(screen, pen, blank.style);
                g_string_append(pen->out, CLEAR_TO_END);
        }
        memcpy(shown, wanted, screen->columns * sizeof(Cell));
}

bool ald_screen_flush(AldScreen *screen, GString *out)
{
        g_autoptr(GString) changes = g_string_new(NULL);
        Pen pen = { .out = changes, .style = blank.style };

        if (screen->unknown)
                g_string_append(changes, CLEAR);
        screen->unknown = false;
        for (unsigned row = 0; row < screen->rows; row++)
                flush_row(screen, &pen, row);
        if (changes->len == 0)
                return false;
        set_style(screen, &pen, blank.style);
        g_string_append_printf(out, BEGIN_UPDATE "%s" END_UPDATE, changes->str);
        return true;
}
