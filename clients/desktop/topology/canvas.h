/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"
#include "clients/desktop/topology/plan-marks.h"

/*
 * Shows nodes as cards, joined by lines with figures. It can be zoomed, panned and rearranged by hand; only a
 * change in the set of nodes moves the other cards. Actions: canvas.zoom-in, canvas.zoom-out, canvas.fit,
 * canvas.rearrange.
 */
#define ALD_TYPE_TOPOLOGY_CANVAS (ald_topology_canvas_get_type())
G_DECLARE_FINAL_TYPE(AldTopologyCanvas, ald_topology_canvas, ALD, TOPOLOGY_CANVAS, GtkWidget)

/* The settings keep the places of cards that were moved by hand; NULL if their schema is not installed. */
GtkWidget *ald_topology_canvas_new(AldLiveCluster *cluster, GSettings *settings);

/* An unused canvas has no cards and does no work. */
void ald_topology_canvas_set_used(AldTopologyCanvas *canvas, bool used);

/* Emphasizes a node, or the lines of a pair; `b` is NULL for one node, both are NULL for none. */
void ald_topology_canvas_select(AldTopologyCanvas *canvas, const char *a, const char *b);

/* Shows a plan on cards and lines, or none if it is NULL. Takes ownership of the marks. */
void ald_topology_canvas_show_plan(AldTopologyCanvas *canvas, AldPlanMarks *marks);
