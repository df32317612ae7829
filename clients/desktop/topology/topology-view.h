/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"
#include "placement/report/plan-report.h"

/* The cluster at a glance: figures of all of it, and its nodes with what joins them; a matrix for many nodes.
 */
#define ALD_TYPE_TOPOLOGY_VIEW (ald_topology_view_get_type())
G_DECLARE_FINAL_TYPE(AldTopologyView, ald_topology_view, ALD, TOPOLOGY_VIEW, GtkBox)

/* The settings may be NULL. */
GtkWidget *ald_topology_view_new(AldLiveCluster *cluster, GSettings *settings);

/* Emphasizes a node, or a pair; NULL for none. */
void ald_topology_view_select(AldTopologyView *page, const char *a, const char *b);

/* Shows a plan on the map, and which one above it; NULL: none. Nothing of it is kept. */
void ald_topology_view_show_plan(AldTopologyView *view, const AldPlanReport *report, const char *title);
