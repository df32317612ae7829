/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link-probe-manager.h"

/* ProbeLink() and ProbeRdma() of org.alidade.LinkProbe1, which reply once the addresses of the node were
 * looked up. */
typedef struct AldProbeLinkBus AldProbeLinkBus;

AldProbeLinkBus *ald_probe_link_bus_new(AldService *service, AldLinkProbeManager *manager);
void ald_probe_link_bus_free(AldProbeLinkBus *bus);

/* Handlers, whose userdata is an AldProbeLinkBus. */
int ald_probe_link_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error);
int ald_probe_link_bus_handle_rdma(sd_bus_message *message, void *userdata, sd_bus_error *error);
