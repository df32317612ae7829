/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/history/finding-journal.h"
#include "services/history/history-manager.h"

/* The object /org/alidade/History1. */
typedef struct AldHistoryBus AldHistoryBus;

/* The manager needs the handler before the object can show it. */
AldHistoryBus *ald_history_bus_new(AldService *service, const AldFindingJournal *journal);
void ald_history_bus_free(AldHistoryBus *bus);
int ald_history_bus_export(AldHistoryBus *bus, AldHistoryManager *manager);

/* Its userdata is an AldHistoryBus. */
extern const AldHistoryHandler ald_history_bus_handler;
