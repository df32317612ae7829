/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/topology-summary.h"

/* The cells of the matrix: their states and rates, their picture, and their description in words. */

typedef enum AldCellState {
        ALD_CELL_NO_PATH, /* no path is known */
        ALD_CELL_SELF,
        ALD_CELL_RATE,
        ALD_CELL_STALE, /* like ALD_CELL_RATE, but a node at an end has been silent for some seconds */
        ALD_CELL_UNMEASURED,
        ALD_CELL_OFFLINE, /* offline or unusable */
        ALD_CELL_UNKNOWN, /* the graph could not be read */
        ALD_N_CELL_STATES,
} AldCellState;

/* The most nodes that have rows: more would each be less than a pixel wide. */
#define ALD_MATRIX_NODES_MAX 1024u

typedef struct AldMatrixCells {
        guint n_all, n;   /* all nodes, and those with rows: the first ALD_MATRIX_NODES_MAX by name */
        GStrv ids, names; /* by row; the names are safe text */
        guint *segments;  /* by row: the number of its segment, whose nodes are joined with each other */
        guint n_segments;
        guint *firsts;      /* by segment: its first row; an additional last element is n */
        uint8_t *states;    /* AldCellState by row (from) and column (to) */
        double *rates;      /* bits per second by row and column; NaN without a rate */
        double least, most; /* of the rates; NaN if there are none */
} AldMatrixCells;

AldMatrixCells *ald_matrix_cells_new(const AldTopologySummary *summary);

/* Makes cells for these AldNodeItems, for a graph that could not be read. */
AldMatrixCells *ald_matrix_cells_new_unknown(GListModel *nodes);

void ald_matrix_cells_free(AldMatrixCells *cells);

/* Returns a square picture of this size, with `scale` pixels of the screen for each pixel of the widget. */
GdkTexture *ald_matrix_cells_picture(const AldMatrixCells *cells, int size, int scale, bool dark);

/* Returns the colour 0xAARRGGBB of a rate, given from 0 to 1 on the scale from the least to the most. */
uint32_t ald_matrix_color(double share);

/* Returns a text like "alder → birch: 9.41 Gb/s". */
char *ald_matrix_cells_words(const AldMatrixCells *cells, guint row, guint column);

/* Returns a text like "12 nodes: alder, birch, cedar, elm, 8 more". */
char *ald_matrix_segment_words(const AldMatrixCells *cells, guint segment);

/* Describes all segments like this, for screen readers; NULL if there are fewer than two. */
char *ald_matrix_cells_describe(const AldMatrixCells *cells);
