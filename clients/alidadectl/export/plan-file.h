/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/report/plan-report.h"

/* Reads a plan as JSON from a file, "-" for standard input. Reports errors and returns an exit code. */
int ald_plan_file_read(const char *path, AldPlanReport **ret);
