/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/candidates.h"

/* What the commands that are exported for an engine can name; see placement/export/. */

/* Not a part of a GPU, as engines number whole GPUs. */
bool ald_plan_can_name_device(const AldPlanEngine *engine, const AldPlanDevice *device);

/* Addresses and host names of both ends, and their ports, as far as they are known and the engine is given
 * them. */
bool ald_plan_can_name_path(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const AldPlanPath *path);
