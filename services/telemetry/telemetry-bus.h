/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/telemetry/telemetry-manager.h"

/* Exports org.alidade.Telemetry1 and the records of this machine on the bus. */
typedef struct AldTelemetryBus AldTelemetryBus;

/* Exports the objects and then starts the manager, which must be freed before the bus. */
int ald_telemetry_bus_new(AldService *service, AldTelemetryManager *manager, AldTelemetryBus **ret);
void ald_telemetry_bus_free(AldTelemetryBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTelemetryBus, ald_telemetry_bus_free)

/* Signals the intervals that have changed; call it after the manager was configured. */
void ald_telemetry_bus_refresh(AldTelemetryBus *bus);
