/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/*
 * Moves points apart, as little as it can, until any two are `unit.x` from each other sideways or `unit.y` up
 * and down. Points that cannot be separated in bounded time end in rows.
 */
void ald_points_spread(AldVector *points, size_t n, AldVector unit, double aspect);

/* Returns the factor by which all points have to be multiplied so that any two are that far apart; at least
 * 1, infinite if two of them are the same. */
double ald_points_scale_apart(const AldVector *points, size_t n, AldVector unit);
