/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The growth of an energy counter that has stood still for this long says nothing of the power now. */
#define ALD_ENERGY_STILL_MAX_USEC (10 * 1000 * 1000)
