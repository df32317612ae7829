/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>

#include "clients/command-line/column-table.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/columns/column-export.h"

static const AldListColumn *column_at(const AldColumnChoice *choice, guint i)
{
        return g_array_index(choice->shown, const AldListColumn *, i);
}

AldTable *ald_column_table_new(const AldColumnChoice *choice)
{
        g_autofree AldColumn *columns = g_new0(AldColumn, choice->shown->len);

        for (guint i = 0; i < choice->shown->len; i++) {
                const AldListColumn *column = column_at(choice, i);

                columns[i] = (AldColumn){ .title = column->heading,
                        .right = column->is_number && !column->share,
                        .least = column->least,
                        .priority = column->priority,
                        .flexible = column->flexible,
                        .wanted = column->wanted };
        }
        return ald_table_new(columns, choice->shown->len);
}

/* Returns a bar, empty if the share is absent. */
static char *format_bar(double share, unsigned width)
{
        GString *bar = g_string_new(NULL);

        for (unsigned i = 0; i < width && !isnan(share); i++)
                g_string_append(bar, i < (unsigned) lround(share * width) ? "█" : "░");
        return g_string_free(bar, FALSE);
}

/* Returns the styled text of a cell that is as wide as `shown`. */
static char *format_cell(const AldListColumn *column, const AldListColumn *shown, const void *row)
{
        g_autofree char *text = column->share ? format_bar(column->share(row), shown->least)
                                              : ald_list_column_text(column, row);
        AldTone tone = column->tone ? column->tone(row) : ALD_TONE_PLAIN;

        if (column->is_strong && column->is_strong(row))
                return g_strconcat(ALD_STYLE_BOLD, text, ALD_STYLE_NORMAL, NULL);
        return ald_text_toned(tone, text);
}

void ald_column_table_add(AldTable *table, const AldColumnChoice *choice, const void *row)
{
        for (guint i = 0; i < choice->shown->len; i++)
                ald_table_add(table, format_cell(column_at(choice, i), column_at(choice, i), row));
}

void ald_column_table_append(
        GString *out, const AldColumnChoice *choice, const GArray *rows, unsigned columns)
{
        g_autoptr(AldTable) table = ald_column_table_new(choice);
        guint size = g_array_get_element_size((GArray *) rows);

        for (guint i = 0; i < rows->len; i++)
                ald_column_table_add(table, choice, rows->data + i * size);
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}

/* The first column of a list names the row, wherever it is shown. */
static bool names_row(const AldColumnChoice *choice, const AldListColumn *column)
{
        return column == choice->list->columns;
}

void ald_column_table_add_below(AldTable *table, const AldColumnChoice *choice, const void *row)
{
        bool is_named = false;

        for (guint i = 0; i < choice->shown->len; i++)
                is_named |= names_row(choice, column_at(choice, i));
        for (guint i = 0; is_named && i < choice->shown->len; i++) {
                const AldListColumn *shown = column_at(choice, i);
                g_autofree char *cell = shown->below ? format_cell(shown->below, shown, row) : NULL;

                ald_table_add(table, names_row(choice, shown)
                                             ? g_strdup_printf("  " ALD_STYLE_DIM "%s" ALD_STYLE_NORMAL, cell)
                                             : g_steal_pointer(&cell));
        }
}

int ald_column_table_sort(const AldCtl *ctl, const AldColumnList *list, GArray *rows)
{
        g_autofree char *problem = NULL;

        if (!ctl->sort || ald_column_sort(list, ctl->sort, rows, &problem) >= 0)
                return -1;
        ald_print_error("%s", problem);
        return ALD_EXIT_USAGE;
}

int ald_column_table_choose(const AldCtl *ctl, const AldColumnList *list, const unsigned *usual,
        unsigned n_usual, AldColumnChoice *choice)
{
        g_autoptr(GArray) no_rows = g_array_new(FALSE, FALSE, 1);
        g_autofree char *problem = NULL;

        if (g_strcmp0(ctl->columns, "help") == 0) {
                g_autofree char *help = ald_column_list_help(list);

                fputs(help, stdout);
                return ald_print_finish();
        }
        if (ald_column_choice_init(choice, list, usual, n_usual, ctl->columns, &problem) >= 0)
                return ald_column_table_sort(ctl, list, no_rows);
        ald_print_error("%s", problem);
        return ALD_EXIT_USAGE;
}

bool ald_column_table_is_exported(const AldCtl *ctl)
{
        return ctl->csv || (ctl->json && (ctl->columns || ctl->sort));
}

int ald_column_table_export(
        const AldCtl *ctl, const char *key, const AldColumnChoice *choice, const GArray *rows)
{
        g_autoptr(GString) csv = g_string_new(NULL);

        if (ctl->json) {
                json_auto_t *object = json_pack("{s:o}", key, ald_columns_to_json(choice, rows));

                return ald_print_json(ctl, object);
        }
        ald_columns_append_csv(csv, choice, rows);
        fputs(csv->str, stdout);
        return ald_print_finish();
}
