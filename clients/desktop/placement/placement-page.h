/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/live/live-cluster.h"
#include "placement/report/plan-report.h"

/*
 * Where a model is placed on the devices of the cluster: what is asked for, and the plan. Signal
 * "overlay-changed": the user wants the plan to be shown on the map, or not any more.
 */
#define ALD_TYPE_PLACEMENT_PAGE (ald_placement_page_get_type())
G_DECLARE_FINAL_TYPE(AldPlacementPage, ald_placement_page, ALD, PLACEMENT_PAGE, AdwBin)

/* The bus is used until it ends. */
GtkWidget *ald_placement_page_new(AldLiveCluster *cluster, AldHostBus *bus);

/* The plan that is to be shown on the map, or NULL; and what is placed. They belong to the page. */
const AldPlanReport *ald_placement_page_overlay(AldPlacementPage *page, const char **ret_title);

/* Takes it from the map. */
void ald_placement_page_clear_overlay(AldPlacementPage *page);
