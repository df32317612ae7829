/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/state/state-manager.h"

/* Replies that are computed from the records on demand, as aa{sv}; -E2BIG if one would be too large. */
int ald_reports_bus_append_findings(sd_bus_message *message, AldStateManager *manager, size_t *ret_bytes);

/* The two of GetFabric(), for one node or, if that is NULL, for all; the segments are AldSegmentRow. */
int ald_reports_bus_append_fabric(sd_bus_message *message, AldStore *store, const GPtrArray *segments,
        const AldNode *only, size_t *ret_bytes);
