/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* A topology.conf, with lines for slurm.conf as comments. Negative errno with the reason: -ENODATA, no node
 * has a host name; -EINVAL, names of hosts are missing or alike; -ESTALE, rates are too old, without force.
 */
int ald_slurm_write(GString *out, const AldExportState *state, char **ret_reason);
