/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"
#include "placement/report/plan-report.h"

/* A plan, or why there is none: how fast it is, its stages and transfers, what would be next best, and why
 * other devices are left out. Hidden while there is nothing to show. */
#define ALD_TYPE_PLAN_VIEW (ald_plan_view_get_type())
G_DECLARE_FINAL_TYPE(AldPlanView, ald_plan_view, ALD, PLAN_VIEW, GtkBox)

GtkWidget *ald_plan_view_new(AldLiveCluster *cluster);

/* The report stays with the caller until another one is shown; NULL: none. The title says what is placed. */
void ald_plan_view_show(AldPlanView *view, const AldPlanReport *report, const char *title);

/* Adds a widget below the headline of a plan. */
void ald_plan_view_add_tool(AldPlanView *view, GtkWidget *tool);
