/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "placement/report/plan-report.h"

/* A menu that exports a plan for other programs, to the clipboard or to a file. */
#define ALD_TYPE_EXPORT_BUTTON (ald_export_button_get_type())
G_DECLARE_FINAL_TYPE(AldExportButton, ald_export_button, ALD, EXPORT_BUTTON, AdwBin)

GtkWidget *ald_export_button_new(void);

/* Offers the formats that suit a plan, or none if it is NULL. The caller owns the plan and keeps it until it
 * sets another one. `path` is the path of the model, or NULL. */
void ald_export_button_set_plan(AldExportButton *button, const AldPlanReport *report, const char *path);
