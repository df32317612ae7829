/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Resolves disputes about rates. Where both ends of a path measured the same direction between the same ports
 * within one time to live, and disagree by more than their intervals, each of these paths gets the lower
 * rate, and the higher one as the disputed rate. A path that the other end has not measured, by the ports
 * that its prober states, carries no more than the best path of the same kind, sockets or RDMA, that the
 * other end measured in this direction between the two nodes in that time. The time to live is that of the
 * lower rate, but at least what the planner uses. Thus a node that overstates what it sends is not believed
 * if the other end measures as well. The paths are AldPlanPaths.
 */
void ald_plan_disputes_settle(GArray *paths);
