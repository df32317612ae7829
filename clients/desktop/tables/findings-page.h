/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* Creates the page of findings with their remedies, the most severe first. */
GtkWidget *ald_findings_page_new(AldLiveCluster *cluster);
