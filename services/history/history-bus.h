/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/history/finding-journal.h"
#include "services/history/history-manager.h"

/* The object /org/alidade/History1. */
typedef struct AldHistoryBus AldHistoryBus;

/* The manager is set before the first call can arrive: it needs the handler first. */
int ald_history_bus_new(AldService *service, const AldFindingJournal *journal, AldHistoryBus **ret);
void ald_history_bus_free(AldHistoryBus *bus);
void ald_history_bus_set_manager(AldHistoryBus *bus, AldHistoryManager *manager);

/* Its userdata is an AldHistoryBus. */
extern const AldHistoryHandler ald_history_bus_handler;
