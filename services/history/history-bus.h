/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/history/history-manager.h"

/* Exports the object /org/alidade/History1. */
typedef struct AldHistoryBus AldHistoryBus;

/* Exports the state of the manager and its news. Free it after the manager. */
int ald_history_bus_new(AldService *service, AldHistoryManager *manager, AldHistoryBus **ret);
void ald_history_bus_free(AldHistoryBus *bus);
