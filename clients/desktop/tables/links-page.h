/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* The links, one row for each path, as a table. */
GtkWidget *ald_links_page_new(AldLiveCluster *cluster);
