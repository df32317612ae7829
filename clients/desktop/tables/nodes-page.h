/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* Creates a table of the nodes. */
GtkWidget *ald_nodes_page_new(AldLiveCluster *cluster);
