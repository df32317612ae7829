/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/state/state-manager.h"

/* These append replies that are computed from the records on demand, as aa{sv}. They return -E2BIG if a reply
 * would be too large. */
int ald_reports_bus_append_findings(sd_bus_message *message, AldStateManager *manager, size_t *ret_bytes);

/* Appends both results of GetFabric(), for one node or, if it is NULL, for all; the segments are
 * AldSegmentRow. */
int ald_reports_bus_append_fabric(sd_bus_message *message, AldStore *store, const GPtrArray *segments,
        const AldNode *only, size_t *ret_bytes);
