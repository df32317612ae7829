/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/state/state-manager.h"

/* What an answer takes on the bus, at most. */
#define ALD_PROBES_SIZE_MAX (128u * 1024)

/* Reads the arguments of GetDueProbes() and appends its answer to the reply. */
int ald_probes_bus_answer(
        sd_bus_message *call, AldStateManager *manager, sd_bus_message *reply, sd_bus_error *error);
