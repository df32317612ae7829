/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"
#include "placement/report/plan-report.h"

/* Shows a plan: how fast it is, its stages and transfers, the next best plans, and why other devices are left
 * out; or why there is no plan. It is hidden while there is nothing to show. */
#define ALD_TYPE_PLAN_VIEW (ald_plan_view_get_type())
G_DECLARE_FINAL_TYPE(AldPlanView, ald_plan_view, ALD, PLAN_VIEW, GtkBox)

GtkWidget *ald_plan_view_new(AldLiveCluster *cluster);

/* The caller owns the report, and keeps it until it shows another one; NULL: none. The title says what is
 * placed. */
void ald_plan_view_show(AldPlanView *view, const AldPlanReport *report, const char *title);

/* Adds a widget below the headline of the plan. */
void ald_plan_view_add_tool(AldPlanView *view, GtkWidget *tool);
