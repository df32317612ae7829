/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"

/* Arranges cards in rows, the cards of a group beside each other. Fills in the cards and the groups. */
void ald_groups_place(AldPositions *positions, const AldPositionsInput *input);
