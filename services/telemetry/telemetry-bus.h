/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/telemetry/telemetry-manager.h"

/* org.alidade.Telemetry1 and the records of this machine on the bus. */
typedef struct AldTelemetryBus AldTelemetryBus;

/* Starts the manager once its objects are exported; the manager is freed first. */
int ald_telemetry_bus_new(AldService *service, AldTelemetryManager *manager, AldTelemetryBus **ret);
void ald_telemetry_bus_free(AldTelemetryBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTelemetryBus, ald_telemetry_bus_free)

/* Signals the intervals that have changed; call it when the manager was configured. */
void ald_telemetry_bus_refresh(AldTelemetryBus *bus);
