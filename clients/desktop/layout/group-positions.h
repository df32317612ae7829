/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/positions.h"

/* Cards in rows, those of a group beside each other. Fills in the cards and the groups. */
void ald_groups_place(AldPositions *positions, const AldPositionsInput *input);
