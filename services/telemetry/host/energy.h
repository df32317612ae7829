/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* After an energy counter has stood still for this long, its growth does not give the current power. */
#define ALD_ENERGY_STILL_MAX_USEC (10 * 1000 * 1000)
