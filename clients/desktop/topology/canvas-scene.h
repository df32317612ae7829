/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"
#include "clients/desktop/topology/drawn-lines.h"
#include "clients/desktop/topology/line-picture.h"

/* Beyond so many nodes, only lines of the selection and of findings are drawn in full and labelled. */
#define ALD_SCENE_ALL_LINES_NODES 8u

/* Where everything is at zoom 1. Pure, like the layout that it uses. */
typedef struct AldCanvasScene {
        guint n_nodes;
        AldBox *cards; /* by node, some of which may have been moved by hand */
        AldBox bounds;
        GPtrArray *lines; /* AldDrawnLine */
        AldLine *routes;  /* by line */
        AldLineWeight *weights;
        AldLabel (*labels)[ALD_N_LABEL_KINDS];
} AldCanvasScene;

typedef struct AldSceneSizes {
        double card_width, card_height;
        double label_widths[ALD_N_RULERS], label_height;
        double aspect; /* of the window */
        /* The width of a label with this text. */
        double (*measure)(const char *text, gpointer userdata);
        gpointer userdata;
} AldSceneSizes;

AldCanvasScene *ald_canvas_scene_new(void);
void ald_canvas_scene_free(AldCanvasScene *scene);

/* Finds places for this many cards and for the lines, which are not copied. */
void ald_canvas_scene_arrange(
        AldCanvasScene *scene, guint n_nodes, GPtrArray *lines, const AldSceneSizes *sizes);

/* After a card was moved to x, y. */
void ald_canvas_scene_move(AldCanvasScene *scene, guint node, double x, double y);

/* Routes the lines and places their labels. `selected`: indices of nodes, or G_MAXUINT. */
void ald_canvas_scene_connect(
        AldCanvasScene *scene, GPtrArray *lines, const guint selected[2], const AldSceneSizes *sizes);

/* The line within `distance` of a point, or its label there; -1 if there is none. */
int ald_canvas_scene_find_line(const AldCanvasScene *scene, AldVector at, double distance);
