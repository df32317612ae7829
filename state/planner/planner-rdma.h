/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner-private.h"

/*
 * Adds the due probes over RDMA. Usable ports in the same segment are paired: the first with the first and so
 * on, in as many pairs as the node with more ports has ports, starting over when the other node runs out.
 * This matches rails, and both ends compute the same pairs. Candidates are also tried if neither port is in a
 * certain segment with the other node.
 */
void ald_planner_rdma(AldPlanner *planner);
