/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/fabric/fabric-rows.h"

/* Adds the Thunderbolt and USB4 domains in sys/bus/thunderbolt, and the hosts that are connected to them. */
void ald_fabric_read_thunderbolt(AldFabricRows *rows);
