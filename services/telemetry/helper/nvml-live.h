/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/helper/nvml-api.h"

/* Fills in what a whole GPU reports of itself at any moment besides its usage and memory. What the driver
 * does not know stays absent; the message refuses what no GPU can report. */
void ald_nvml_read_live(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row);
