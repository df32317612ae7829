/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/compute-options.h"

/*
 * The side of the program that touches drivers, which hang and crash: lists the devices or measures one
 * metric of one, sends lines of answer.h, and ends the process.
 */
void ald_child_run(const AldComputeOptions *options) __attribute__((noreturn));
