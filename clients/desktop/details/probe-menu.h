/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

/* Makes a menu of the probes that can be run between the machine of the window and a node. */
GMenuModel *ald_probe_menu_new(const char *node_id);
