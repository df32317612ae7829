/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/live/live-cluster.h"
#include "placement/report/plan-report.h"

/*
 * Places a model on the devices of the cluster: a form for the request, and the plan. Signal
 * "overlay-changed": the user wants the plan to be shown on the map, or no longer.
 */
#define ALD_TYPE_PLACEMENT_PAGE (ald_placement_page_get_type())
G_DECLARE_FINAL_TYPE(AldPlacementPage, ald_placement_page, ALD, PLACEMENT_PAGE, AdwBin)

/* The bus must outlive the page. */
GtkWidget *ald_placement_page_new(AldLiveCluster *cluster, AldHostBus *bus);

/* Returns the plan that is to be shown on the map, or NULL, and its title. They belong to the page. */
const AldPlanReport *ald_placement_page_overlay(AldPlacementPage *page, const char **ret_title);

/* Removes the plan from the map. */
void ald_placement_page_clear_overlay(AldPlacementPage *page);
