/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner.h"

/* As one of whom nothing is to be held back. */
AldPlannerInput planner_input(uint64_t now);

/* What is due then must be: "2 10.0.0.2 eth0 never" of a path over sockets to node 2, "ib0.1 2 ib1.1 never
 * over fe80::2%eth0" of one over RDMA; with ", " between. */
void planner_check(AldStore *store, const AldPlannerInput *input, const char *expected);
