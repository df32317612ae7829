/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/cluster-peer-bus.h"
#include "services/state/signals.h"
#include "services/state/state-manager.h"

/* The interface org.alidade.State1: mappings, pages, findings, and the methods for the cluster service. */
typedef struct AldStateBus AldStateBus;

int ald_state_bus_new(AldService *service, AldStateManager *manager, AldClusterPeer *cluster,
        AldSignals *signals, const AldId *local, AldStateBus **ret);
void ald_state_bus_free(AldStateBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStateBus, ald_state_bus_free)
