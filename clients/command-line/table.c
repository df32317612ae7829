/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"

#define GAP 2

struct AldTable {
        AldColumn *columns;
        unsigned n_columns;
        unsigned *widths; /* 0: dropped */
        GPtrArray *cells; /* row by row */
};

AldTable *ald_table_new(const AldColumn *columns, unsigned n_columns)
{
        AldTable *table = g_new0(AldTable, 1);

        table->columns = g_memdup2(columns, n_columns * sizeof(AldColumn));
        table->n_columns = n_columns;
        table->widths = g_new0(unsigned, n_columns);
        table->cells = g_ptr_array_new_with_free_func(g_free);
        return table;
}

void ald_table_free(AldTable *table)
{
        if (!table)
                return;
        g_ptr_array_unref(table->cells);
        g_free(table->columns);
        g_free(table->widths);
        g_free(table);
}

void ald_table_add(AldTable *table, char *text)
{
        g_ptr_array_add(table->cells, text ? text : g_strdup(""));
}

unsigned ald_table_rows(AldTable *table)
{
        return table->cells->len / table->n_columns;
}

static unsigned total_width(AldTable *table)
{
        unsigned total = 0;

        for (unsigned c = 0; c < table->n_columns; c++)
                if (table->widths[c] > 0)
                        total += (total > 0 ? GAP : 0) + table->widths[c];
        return total;
}

/* Returns the width to which a flexible column may be narrowed: what is wanted of it, or its least. */
static unsigned least_width(const AldColumn *column, bool wanted)
{
        return MAX(wanted ? column->wanted : 1, MAX(column->least, 1));
}

/* Narrows flexible columns until the table fits, or they cannot become narrower. */
static void narrow_columns(AldTable *table, unsigned columns, bool wanted)
{
        for (unsigned c = 0; c < table->n_columns && total_width(table) > columns; c++) {
                unsigned least = least_width(&table->columns[c], wanted), over = total_width(table) - columns;

                if (table->columns[c].flexible && table->widths[c] > least)
                        table->widths[c] = table->widths[c] - least > over ? table->widths[c] - over : least;
        }
}

/* Returns true if the column has no known value in any row. */
static bool is_unknown(const AldTable *table, unsigned column)
{
        for (guint i = column; i < table->cells->len; i += table->n_columns) {
                const char *cell = table->cells->pdata[i];

                if (*cell && !g_str_equal(cell, ALD_ABSENT_TEXT))
                        return false;
        }
        return true;
}

static bool matters_less(const AldTable *table, unsigned column, unsigned other)
{
        bool unknown = is_unknown(table, column);

        if (unknown != is_unknown(table, other))
                return unknown;
        return table->columns[column].priority > table->columns[other].priority;
}

/* Drops the least important of the columns with a priority above this; with `unknown`, only one without any
 * value. */
static bool drop_column(AldTable *table, unsigned priority, bool unknown)
{
        unsigned worst = table->n_columns;

        for (unsigned c = 0; c < table->n_columns; c++)
                if (table->widths[c] > 0 && table->columns[c].priority > priority &&
                        (worst == table->n_columns || matters_less(table, c, worst)))
                        worst = c;
        if (worst == table->n_columns || (unknown && !is_unknown(table, worst)))
                return false;
        table->widths[worst] = 0;
        return true;
}

static void set_natural_widths(AldTable *table)
{
        for (unsigned c = 0; c < table->n_columns; c++)
                table->widths[c] = MAX(ald_text_width(table->columns[c].title), table->columns[c].least);
        for (guint i = 0; i < table->cells->len; i++) {
                unsigned *width = &table->widths[i % table->n_columns];

                *width = MAX(*width, ald_text_width(table->cells->pdata[i]));
        }
}

/* Drops columns that are completely empty. */
static void drop_empty_columns(AldTable *table)
{
        for (unsigned c = 0; c < table->n_columns; c++) {
                bool empty = table->columns[c].priority > 0;

                for (guint i = c; i < table->cells->len && empty; i += table->n_columns)
                        empty = *(const char *) table->cells->pdata[i] == '\0';
                if (empty)
                        table->widths[c] = 0;
        }
}

/* Returns true if the table would fit with the flexible columns at their least, or at their wanted width. */
static bool can_fit(AldTable *table, unsigned columns, bool wanted)
{
        unsigned total = total_width(table);

        for (unsigned c = 0; c < table->n_columns; c++) {
                unsigned least = least_width(&table->columns[c], wanted);

                if (table->columns[c].flexible && table->widths[c] > least)
                        total -= table->widths[c] - least;
        }
        return total <= columns;
}

/* A width that was needed once may be needed again. */
static void keep_widths(AldTable *table, unsigned *floors)
{
        for (unsigned c = 0; c < table->n_columns; c++)
                floors[c] = table->widths[c] = MAX(table->widths[c], floors[c]);
}

void ald_table_layout(AldTable *table, unsigned columns, unsigned *floors)
{
        set_natural_widths(table);
        if (floors)
                keep_widths(table, floors);
        drop_empty_columns(table);
        if (columns == 0)
                return;
        /* A column without any value, unless it is of priority 1 or less, makes no other one narrower. */
        while (total_width(table) > columns && drop_column(table, 1, true))
                continue;
        while (!can_fit(table, columns, true) && drop_column(table, 1, false))
                continue;
        while (!can_fit(table, columns, false) && drop_column(table, 0, false))
                continue;
        narrow_columns(table, columns, true);
        narrow_columns(table, columns, false);
}

static bool is_last_shown(AldTable *table, unsigned column)
{
        for (unsigned c = column + 1; c < table->n_columns; c++)
                if (table->widths[c] > 0)
                        return false;
        return true;
}

char *ald_table_line(AldTable *table, int row)
{
        g_autoptr(GString) line = g_string_new(row < 0 ? ALD_STYLE_HEADER : NULL);
        bool first = true;

        for (unsigned c = 0; c < table->n_columns; c++) {
                const AldColumn *column = &table->columns[c];
                const char *text = row < 0 ? column->title
                                           : table->cells->pdata[(unsigned) row * table->n_columns + c];
                g_autofree char *cell = NULL;

                if (table->widths[c] == 0)
                        continue;
                /* Nothing follows the last column, so it is not padded. */
                cell = is_last_shown(table, c) && !column->right
                               ? ald_text_cut(text, table->widths[c])
                               : ald_text_fit(text, table->widths[c], column->right);
                g_string_append(line, first ? "" : "  ");
                g_string_append(line, cell);
                first = false;
        }
        if (row < 0)
                g_string_append(line, ALD_STYLE_NORMAL);
        return g_string_free(g_steal_pointer(&line), FALSE);
}

void ald_table_append(GString *out, AldTable *table)
{
        for (int row = -1; row < (int) ald_table_rows(table); row++) {
                g_autofree char *line = ald_table_line(table, row);

                g_string_append(out, line);
                g_string_append_c(out, '\n');
        }
}
