/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* Writes a topology.conf, with lines for slurm.conf as comments. Returns a negative errno with the reason:
 * -ENODATA, no node is left that has a unique host name; without force, -ENXIO, the host name of a node is
 * missing or not unique, and -ESTALE, rates are too old. With force such nodes are left out, each with a
 * comment, and counted. */
int ald_slurm_write(GString *out, const AldExportState *state, unsigned *ret_n_left_out, char **ret_reason);
