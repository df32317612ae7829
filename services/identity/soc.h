/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The chip that processor cores sit in, by the compatible names of the device tree and by what the firmware
 * of an Arm machine says of itself in sys/devices/soc0: NVIDIA Grace. NULL where neither is known.
 */
const char *ald_soc_name(int root, const char *const *compatible);
