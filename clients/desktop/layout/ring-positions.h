/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"

/* Arranges cards on a ring that is large enough for lines with labels between all of them. Fills in the
 * cards. */
void ald_ring_positions_place(AldPositions *positions, const AldPositionsInput *input);
