/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/history/history-manager.h"

/* The object /org/alidade/History1. */
typedef struct AldHistoryBus AldHistoryBus;

/* Shows what the manager tells; free it after the manager. */
int ald_history_bus_new(AldService *service, AldHistoryManager *manager, AldHistoryBus **ret);
void ald_history_bus_free(AldHistoryBus *bus);
