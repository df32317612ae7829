/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* Exports org.alidade.Placement1. Leaves the bus and ends the service after a minute without work. */
typedef struct AldPlacementBus AldPlacementBus;

int ald_placement_bus_new(AldService *service, AldPlacementBus **ret);
void ald_placement_bus_free(AldPlacementBus *bus);
