/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"
#include "clients/desktop/topology/plan-marks.h"

/*
 * Nodes as cards, and what joins them as lines with figures. It can be zoomed, panned and rearranged by hand;
 * only a new set of nodes moves cards that were not. Actions: canvas.zoom-in, canvas.zoom-out, canvas.fit,
 * canvas.rearrange.
 */
#define ALD_TYPE_TOPOLOGY_CANVAS (ald_topology_canvas_get_type())
G_DECLARE_FINAL_TYPE(AldTopologyCanvas, ald_topology_canvas, ALD, TOPOLOGY_CANVAS, GtkWidget)

/* The settings keep where cards were put by hand; NULL if their schema is not installed. */
GtkWidget *ald_topology_canvas_new(AldLiveCluster *cluster, GSettings *settings);

/* While it is not used, it has no cards and does nothing. */
void ald_topology_canvas_set_used(AldTopologyCanvas *canvas, bool used);

/* Emphasizes a node, or the lines of a pair; NULL for none. */
void ald_topology_canvas_select(AldTopologyCanvas *canvas, const char *a, const char *b);

/* Shows a plan on cards and lines; NULL: none. Takes the marks. */
void ald_topology_canvas_show_plan(AldTopologyCanvas *canvas, AldPlanMarks *marks);
