/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The name of the system on chip, from the compatible names of the device tree, or from what the firmware of
 * an Arm machine reports in sys/devices/soc0, such as "NVIDIA Grace". NULL if unknown.
 */
const char *ald_soc_name(int root, const char *const *compatible);
