/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"

/* Arranges cards by their connections, and the parts that are not connected beside each other. Fills in the
 * cards. */
void ald_graph_positions_place(AldPositions *positions, const AldPositionsInput *input);
