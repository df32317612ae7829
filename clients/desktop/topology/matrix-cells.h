/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/topology-summary.h"

/* The cells of the matrix: what they are, and their picture. */

typedef enum AldCellState {
        ALD_CELL_NO_PATH, /* none is known */
        ALD_CELL_SELF,
        ALD_CELL_RATE,
        ALD_CELL_STALE, /* the same, and a node at an end has been silent for some seconds */
        ALD_CELL_UNMEASURED,
        ALD_CELL_OFFLINE, /* or it cannot be used */
        ALD_CELL_UNKNOWN, /* the graph could not be read */
        ALD_N_CELL_STATES,
} AldCellState;

/* More nodes have no matrix: each would be less than a pixel wide. */
#define ALD_MATRIX_NODES_MAX 1024u

typedef struct AldMatrixCells {
        guint n_all, n;   /* nodes; of these at most the first ALD_MATRIX_NODES_MAX by name have rows */
        GStrv ids, names; /* of the nodes, by row; names are safe text */
        guint *segments;  /* by row: number of the nodes that are joined with each other */
        guint n_segments;
        guint *firsts;      /* by segment: its first row; after the last one: n */
        uint8_t *states;    /* AldCellState by row and column: from the row to the column */
        double *rates;      /* bits per second, the same; NaN unless it has one */
        double least, most; /* of the rates; NaN if there are none */
} AldMatrixCells;

AldMatrixCells *ald_matrix_cells_new(const AldTopologySummary *summary);

/* Of these AldNodeItems, if the graph could not be read. */
AldMatrixCells *ald_matrix_cells_new_unknown(GListModel *nodes);

void ald_matrix_cells_free(AldMatrixCells *cells);

/* A square picture of this size, with `scale` pixels of the screen for each pixel of the widget. */
GdkTexture *ald_matrix_cells_picture(const AldMatrixCells *cells, int size, int scale, bool dark);

/* The colour of a rate, 0 to 1 on the scale from the least to the most: 0xAARRGGBB. */
uint32_t ald_matrix_color(double share);

/* "alder → birch: 9.41 Gb/s"; to be freed. */
char *ald_matrix_cells_words(const AldMatrixCells *cells, guint row, guint column);

/* "12 nodes: alder, birch, cedar, elm, 8 more"; to be freed. */
char *ald_matrix_segment_words(const AldMatrixCells *cells, guint segment);

/* The same of all segments, for a screen reader; NULL if there are fewer than two. */
char *ald_matrix_cells_describe(const AldMatrixCells *cells);
