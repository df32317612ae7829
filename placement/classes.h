/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Finds classes of interchangeable devices, such as the GPUs of one host: devices with equal properties,
 * equal hops to and from each other device, and equal hops between themselves in both directions.
 * ret_class[i] is the lowest number of the devices of i's class. The worst-case time is devices² · (classes
 * whose devices differ in hops only).
 */
void ald_placement_find_classes(const AldPlacementProblem *problem, uint32_t *ret_class);
