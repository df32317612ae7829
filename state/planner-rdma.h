/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner-private.h"

/*
 * Adds what is due over RDMA with the peers. Ports are paired that share a segment and can be used: with
 * as many pairs as the one of both has ports that has more, the first with the first and so on, from the
 * beginning where one runs out. That follows rails, and both ends pair alike. Candidates are tried too, where
 * both ports are in no certain segment with the other node.
 */
void ald_planner_rdma(AldPlanner *planner);
