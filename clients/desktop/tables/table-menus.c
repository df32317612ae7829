/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/tables/table-menus.h"

void ald_menu_add(GMenu *menu, const char *label, const char *action, GVariant *target)
{
        /* An underscore would mark the next character as a mnemonic. */
        g_auto(GStrv) parts = g_strsplit(label, "_", -1);
        g_autofree char *shown = g_strjoinv("__", parts);
        g_autoptr(GMenuItem) item = g_menu_item_new(shown, NULL);

        g_menu_item_set_action_and_target_value(item, action, target);
        g_menu_append_item(menu, item);
}

GMenuModel *ald_sort_menu_new(const AldDataColumn *columns, unsigned n_columns)
{
        GMenu *menu = g_menu_new();

        for (unsigned i = 0; i < n_columns; i++)
                ald_menu_add(menu, ald_data_column_long_title(&columns[i]), "table.sort",
                        g_variant_new_string(columns[i].id));
        return G_MENU_MODEL(menu);
}

GMenuModel *ald_column_menu_new(const AldDataColumn *columns, unsigned n_columns)
{
        GMenu *menu = g_menu_new();

        /* The first column is left out, since a row without it would have no name. */
        for (unsigned i = 1; i < n_columns; i++) {
                g_autofree char *action = g_strdup_printf("column.%s", columns[i].id);

                ald_menu_add(menu, ald_data_column_long_title(&columns[i]), action, NULL);
        }
        return G_MENU_MODEL(menu);
}
