/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link-probe-manager.h"

/* Exports org.alidade.LinkProbe1 on the bus. */
typedef struct AldLinkProbeBus AldLinkProbeBus;

int ald_link_probe_bus_new(AldService *service, AldLinkProbeManager *manager, AldLinkProbeBus **ret);
void ald_link_probe_bus_free(AldLinkProbeBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinkProbeBus, ald_link_probe_bus_free)
