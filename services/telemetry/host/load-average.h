/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/host/kept-file.h"

/* Sets the load averages of a record from /proc/loadavg. Averages that cannot be read stay as they are, which
 * is logged once. */
void ald_load_average_sample(AldKeptFile *file, AldSystem *system);
