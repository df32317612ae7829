/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"
#include "placement/report/plan-report.h"

/* Shows the cluster at a glance: figures of the whole, and the nodes with what joins them, as a matrix if
 * there are many. */
#define ALD_TYPE_TOPOLOGY_VIEW (ald_topology_view_get_type())
G_DECLARE_FINAL_TYPE(AldTopologyView, ald_topology_view, ALD, TOPOLOGY_VIEW, GtkBox)

/* The settings are those of ald_topology_canvas_new(), or NULL. */
GtkWidget *ald_topology_view_new(AldLiveCluster *cluster, GSettings *settings);

/* Emphasizes a node, or a pair; `b` is NULL for one node, both are NULL for none. */
void ald_topology_view_select(AldTopologyView *page, const char *a, const char *b);

/* Shows a plan on the map, with its title above; NULL: none. The report is not kept. */
void ald_topology_view_show_plan(AldTopologyView *view, const AldPlanReport *report, const char *title);
