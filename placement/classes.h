/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Classes of interchangeable devices, such as the GPUs of one host: equal in all that the problem says of
 * them, with equal hops to and from each other device, and equal hops between themselves in both directions.
 * ret_class[i] is the lowest number of the devices of i's class. Takes devices² · classes of devices that are
 * otherwise equal in time at worst.
 */
void ald_placement_find_classes(const AldPlacementProblem *problem, uint32_t *ret_class);
