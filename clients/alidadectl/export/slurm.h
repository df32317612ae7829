/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* A topology.conf, with lines for slurm.conf as comments. Negative errno with the reason: -ENODATA, no node
 * has a host name; -EINVAL, hosts have the same name; without force, -ENXIO, the host name of a node is
 * missing, and -ESTALE, rates are too old. */
int ald_slurm_write(GString *out, const AldExportState *state, char **ret_reason);
