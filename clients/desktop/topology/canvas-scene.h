/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"
#include "clients/desktop/topology/drawn-lines.h"
#include "clients/desktop/topology/line-picture.h"

/* Above this number of nodes, only lines of the selection and of findings are drawn in full and labelled. */
#define ALD_SCENE_ALL_LINES_NODES 8u

/* Holds the place of every card, line and label at zoom 1. It touches no widgets, like the layout that it
 * uses. */
typedef struct AldCanvasScene {
        guint n_nodes;
        AldBox *cards; /* by node; some may have been moved by hand */
        AldBox bounds;
        GPtrArray *lines; /* AldDrawnLine */
        AldLine *routes;  /* by line */
        AldLineWeight *weights;
        AldLabel (*labels)[ALD_N_LABEL_KINDS];
} AldCanvasScene;

typedef struct AldSceneSizes {
        double card_width, card_height;
        double label_widths[ALD_N_RULERS], label_height;
        double aspect; /* of the window: width / height */
        /* Returns the width of a label with this text. */
        double (*measure)(const char *text, gpointer userdata);
        gpointer userdata;
} AldSceneSizes;

AldCanvasScene *ald_canvas_scene_new(void);
void ald_canvas_scene_free(AldCanvasScene *scene);

/* Finds places for this many cards, joined by these lines, which are only read. */
void ald_canvas_scene_arrange(
        AldCanvasScene *scene, guint n_nodes, GPtrArray *lines, const AldSceneSizes *sizes);

/* Moves a card to x, y. The lines do not follow before ald_canvas_scene_connect(). */
void ald_canvas_scene_move(AldCanvasScene *scene, guint node, double x, double y);

/* Routes the lines, of which a reference is kept, and places their labels. `selected` has indices of nodes,
 * or G_MAXUINT for none. */
void ald_canvas_scene_connect(
        AldCanvasScene *scene, GPtrArray *lines, const guint selected[2], const AldSceneSizes *sizes);

/* Returns the index of the line that is within `distance` of a point, or has a label there; -1 if there is
 * none. */
int ald_canvas_scene_find_line(const AldCanvasScene *scene, AldVector at, double distance);
