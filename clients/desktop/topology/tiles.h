/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* Makes a box with three figures of the whole cluster: FP16 compute, memory bandwidth and memory, each with
 * what it leaves out. */
GtkWidget *ald_tiles_new(AldLiveCluster *cluster);
