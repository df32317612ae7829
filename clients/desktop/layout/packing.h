/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/*
 * Moves boxes into rows, in their order, so that all of them together appear as large as possible in a window
 * of this aspect ratio. The first one is in the upper left corner, at 0, 0. Returns the height of the
 * smallest such window.
 */
double ald_boxes_pack(AldBox *boxes, size_t n, double gap, double aspect);

/* Returns the number of columns in which n cells of this size appear largest in a window of this aspect
 * ratio. */
size_t ald_best_columns(size_t n, double width, double height, double aspect);
