/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Places few widgets side by side, in columns of equal width; in several lines if there is not enough room,
 * so that none of them is cut off with large text either. */
#define ALD_TYPE_FIGURE_CELLS (ald_figure_cells_get_type())
G_DECLARE_FINAL_TYPE(AldFigureCells, ald_figure_cells, ALD, FIGURE_CELLS, GtkLayoutManager)
