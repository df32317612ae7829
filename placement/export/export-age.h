/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* Whether all figures of a plan may be relied on: -ESTALE or -ENOKEY with the reason, as ald_plan_export().
 */
int ald_export_check_figures(const AldExportPlan *plan, char **ret_reason);
