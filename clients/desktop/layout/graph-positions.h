/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"

/* Cards where their connections draw them, and parts without a connection beside each other. Fills in the
 * cards. */
void ald_graph_positions_place(AldPositions *positions, const AldPositionsInput *input);
