/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Where both ends of a path measured the same direction between the same ports within one time to live, and
 * disagree by more than their intervals, gives each of these paths the lower rate, and the higher one as the
 * disputed one. A node that overstates what it sends is not believed by this, if the other end measures as
 * well. The paths are AldPlanPaths.
 */
void ald_plan_disputes_settle(GArray *paths);
