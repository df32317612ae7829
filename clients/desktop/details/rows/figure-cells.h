/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Places a few widgets side by side in columns of equal width, in several lines if there is not enough room,
 * so that none is cut off even with large text. */
#define ALD_TYPE_FIGURE_CELLS (ald_figure_cells_get_type())
G_DECLARE_FINAL_TYPE(AldFigureCells, ald_figure_cells, ALD, FIGURE_CELLS, GtkLayoutManager)
