/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* Returns -ENODATA unless the plan names a client. */
int ald_export_check_client(const AldExportPlan *plan, char **ret_reason);

/* Sets the IPv4 address at which the client reaches the node of a stage, on the measured path. Returns
 * -EINVAL if it is unknown, and -ENOTSUP if the path is over RDMA. */
int ald_export_server_address(const AldExportPlan *plan, guint stage, const char **ret, char **ret_reason);
