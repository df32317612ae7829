/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* Writes a file for the folder features.d of node-feature-discovery: labels of a node of the topology.
 * Measured figures expire a day after the oldest of them. */
void ald_nfd_write(GString *out, const AldExportState *state, unsigned index);
