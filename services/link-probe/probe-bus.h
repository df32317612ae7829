/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link-probe-manager.h"

/* Reads the arguments of a method of org.alidade.LinkProbe1 that requests probes of this kind. Replies once
 * their targets have been looked up, or has `handler` run again once polkit has answered. */
int ald_probe_bus_handle(AldService *service, sd_bus_message *message, AldLinkProbeManager *manager,
        const AldProbeKind *kind, sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error);
