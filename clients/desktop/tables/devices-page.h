/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* The compute devices of all nodes. They are listed when the page is first shown, and followed only while it
 * is. */
GtkWidget *ald_devices_page_new(AldLiveCluster *cluster);
