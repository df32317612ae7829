/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/state/state-manager.h"

/* The maximum size of a reply on the bus. */
#define ALD_PROBES_SIZE_MAX (128u * 1024)

/* Reads the arguments of GetDueProbes() and appends the result to the reply. */
int ald_probes_bus_answer(
        sd_bus_message *call, AldStateManager *manager, sd_bus_message *reply, sd_bus_error *error);
