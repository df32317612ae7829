/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/common/columns/column-choice.h"
#include "clients/common/columns/column-order.h"
#include "clients/common/safe-text.h"

void ald_column_choice_clear(AldColumnChoice *choice)
{
        g_clear_pointer(&choice->shown, g_array_unref);
}

/* The case of letters does not matter, since users see the headings in capitals. */
static const AldListColumn *find_column(const AldColumnList *list, const char *name, char **ret_problem)
{
        g_autofree char *safe = NULL;

        for (unsigned i = 0; i < list->n_columns; i++)
                if (g_ascii_strcasecmp(list->columns[i].id, name) == 0)
                        return &list->columns[i];
        safe = ald_text_safe(name);
        *ret_problem = g_strdup_printf(
                "Unknown column \"%s\"; see alidadectl %s --columns=help", safe, list->name);
        return NULL;
}

static int add_shown(AldColumnChoice *choice, const char *name, char **ret_problem)
{
        const AldListColumn *column = find_column(choice->list, name, ret_problem);

        if (!column)
                return -EINVAL;
        for (guint i = 0; i < choice->shown->len; i++)
                if (g_array_index(choice->shown, const AldListColumn *, i) == column) {
                        *ret_problem = g_strdup_printf("Column \"%s\" is named twice", column->id);
                        return -EINVAL;
                }
        g_array_append_val(choice->shown, column);
        return 0;
}

int ald_column_choice_init(AldColumnChoice *choice, const AldColumnList *list, const unsigned *usual,
        unsigned n_usual, const char *names, char **ret_problem)
{
        bool adds = names && names[0] == '+';
        g_auto(GStrv) words = names ? g_strsplit(names + adds, ",", -1) : NULL;
        int r = 0;

        *choice = (AldColumnChoice){ list, g_array_new(FALSE, FALSE, sizeof(const AldListColumn *)) };
        for (unsigned i = 0; (!names || adds) && i < n_usual; i++) {
                const AldListColumn *column = &list->columns[usual[i]];

                g_array_append_val(choice->shown, column);
        }
        for (guint i = 0; words && words[i] && r >= 0; i++)
                r = add_shown(choice, words[i], ret_problem);
        if (r >= 0 && choice->shown->len == 0) {
                *ret_problem = g_strdup_printf(
                        "--columns= needs names; see alidadectl %s --columns=help", list->name);
                r = -EINVAL;
        }
        return r;
}

/* A column by which rows are sorted. */
typedef struct SortColumn {
        const AldListColumn *column;
        bool descending;
} SortColumn;

/* A row with the values that it is compared by. */
typedef struct SortedRow {
        guint index; /* before sorting */
        char **keys; /* one for each column, NULL if that has numbers */
        double *numbers;
} SortedRow;

static int compare_rows(const void *a, const void *b, void *userdata)
{
        const SortedRow *x = a, *y = b;
        const GArray *columns = userdata;

        for (guint i = 0; i < columns->len; i++) {
                const SortColumn *by = &g_array_index(columns, SortColumn, i);
                int order = by->column->number
                                    ? ald_order_numbers(x->numbers[i], y->numbers[i], by->descending)
                                    : ald_order_keys(x->keys[i], y->keys[i], by->descending);

                if (order != 0)
                        return by->descending ? -order : order;
        }
        return (x->index > y->index) - (x->index < y->index);
}

static void sort_rows(const GArray *columns, GArray *rows)
{
        gsize size = g_array_get_element_size(rows);
        g_autofree char *unsorted = rows->len > 0 ? g_memdup2(rows->data, rows->len * size) : NULL;
        g_autofree SortedRow *sorted = g_new0(SortedRow, rows->len);

        for (guint i = 0; i < rows->len; i++) {
                sorted[i] = (SortedRow){ i, g_new0(char *, columns->len), g_new0(double, columns->len) };
                for (guint c = 0; c < columns->len; c++) {
                        const AldListColumn *column = g_array_index(columns, SortColumn, c).column;
                        const void *row = unsorted + i * size;
                        g_autofree char *text = column->number ? NULL : ald_list_column_text(column, row);

                        sorted[i].numbers[c] = column->number ? column->number(row) : (double) NAN;
                        sorted[i].keys[c] = ald_order_key(text);
                }
        }
        g_qsort_with_data(sorted, (int) rows->len, sizeof(SortedRow), compare_rows, (void *) columns);
        for (guint i = 0; i < rows->len; i++) {
                memcpy(rows->data + i * size, unsorted + sorted[i].index * size, size);
                for (guint c = 0; c < columns->len; c++)
                        g_free(sorted[i].keys[c]);
                g_free(sorted[i].keys);
                g_free(sorted[i].numbers);
        }
}

int ald_column_sort(const AldColumnList *list, const char *names, GArray *rows, char **ret_problem)
{
        g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(SortColumn));
        g_auto(GStrv) words = g_strsplit(names, ",", -1);

        for (guint i = 0; words[i]; i++) {
                bool has_sign = words[i][0] == '+' || words[i][0] == '-';
                SortColumn by = { find_column(list, words[i] + has_sign, ret_problem), words[i][0] == '-' };

                if (!by.column)
                        return -EINVAL;
                g_array_append_val(columns, by);
        }
        if (columns->len == 0) {
                *ret_problem = g_strdup_printf(
                        "--sort= needs names; see alidadectl %s --columns=help", list->name);
                return -EINVAL;
        }
        sort_rows(columns, rows);
        return 0;
}

char *ald_column_list_help(const AldColumnList *list)
{
        GString *out = g_string_new(NULL);
        int id_width = 0, key_width = 0;

        for (unsigned i = 0; i < list->n_columns; i++) {
                id_width = MAX(id_width, (int) strlen(list->columns[i].id));
                key_width = MAX(key_width, (int) strlen(list->columns[i].key));
        }
        for (unsigned i = 0; i < list->n_columns; i++)
                g_string_append_printf(out, "%-*s  %-*s  %s\n", id_width, list->columns[i].id, key_width,
                        list->columns[i].key, list->columns[i].description);
        return g_string_free(out, FALSE);
}
