/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* Checks that all figures of a plan are reliable. Returns -ESTALE or -ENOKEY and sets the reason, as
 * ald_plan_export() does. */
int ald_export_check_figures(const AldExportPlan *plan, char **ret_reason);
