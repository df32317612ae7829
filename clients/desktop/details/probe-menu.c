/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/details/probe-menu.h"

GMenuModel *ald_probe_menu_new(const char *node_id)
{
        static const struct {
                const char *label, *what;
        } probes[] = {
                { N_("Measure _TCP/IP"), "socket" },
                { N_("Measure _Round Trips Only"), "rtt" },
                { N_("Measure R_DMA"), "rdma" },
        };
        GMenu *menu = g_menu_new();

        for (size_t i = 0; i < G_N_ELEMENTS(probes); i++) {
                g_autoptr(GMenuItem) item = g_menu_item_new(_(probes[i].label), NULL);

                g_menu_item_set_action_and_target(item, "win.probe-link", "(ss)", node_id, probes[i].what);
                g_menu_append_item(menu, item);
        }
        return G_MENU_MODEL(menu);
}
