/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/compute-options.h"

/*
 * Runs the side of the program that uses drivers, which may hang or crash. Lists the devices or measures one
 * metric of a device, sends lines of answer.h, and ends the process.
 */
void ald_child_run(const AldComputeOptions *options) __attribute__((noreturn));
