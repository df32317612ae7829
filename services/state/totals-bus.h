/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state/compute/totals.h"

/* Bits of a set of the properties that are totals: the figures in the order of their struct, and these. */
#define ALD_TOTALS_FIGURE(i) (UINT32_C(1) << (i))
#define ALD_TOTALS_TFLOPS_FP16_REASONS (UINT32_C(1) << 30)
#define ALD_TOTALS_MEMORY_BANDWIDTH_REASONS (UINT32_C(1) << 31)

/* Appends the properties of the set, as sa{sv}as. */
int ald_totals_bus_append_changed(sd_bus_message *message, const AldTotals *totals, uint32_t set);

/* Appends the counts of reasons that are not 0: a{sv}. */
int ald_totals_bus_append_reasons(sd_bus_message *message, const uint64_t counts[static ALD_LEFT_OUT_N]);
