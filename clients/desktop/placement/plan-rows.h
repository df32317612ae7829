/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/details/rows/keyed-rows.h"
#include "placement/report/plan-report.h"

/*
 * Shows a report as rows of lists: each function adds the rows of one list. Rows about a node, or about a
 * path between two, can be activated by ald_plan_row_open().
 */
typedef void (*AldPlanRows)(AldKeyedRows *rows, const AldPlanReport *report, double now_usec);

void ald_plan_rows_stages(AldKeyedRows *rows, const AldPlanReport *report, double now_usec);
void ald_plan_rows_hops(AldKeyedRows *rows, const AldPlanReport *report, double now_usec);
void ald_plan_rows_alternatives(AldKeyedRows *rows, const AldPlanReport *report, double now_usec);
void ald_plan_rows_left_out(AldKeyedRows *rows, const AldPlanReport *report, double now_usec);
void ald_plan_rows_sensitivities(AldKeyedRows *rows, const AldPlanReport *report, double now_usec);

/* Shows the details of the node, or of the path, that the row is about. */
void ald_plan_row_open(GtkListBoxRow *row);
