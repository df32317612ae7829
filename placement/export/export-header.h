/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* Appends comments on what the text was made from, and when that was measured. `mark` begins each line. */
void ald_export_append_header(GString *out, const AldExportPlan *plan, const char *format, const char *mark);
