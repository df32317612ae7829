/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* A file for the folder features.d of node-feature-discovery: labels of a node of the topology. What was
 * measured expires a day after its oldest figure. */
void ald_nfd_write(GString *out, const AldExportState *state, unsigned index);
