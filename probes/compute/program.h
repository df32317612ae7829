/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/cache.h"
#include "probes/compute/options.h"
#include "probes/compute/runner.h"

/* The modes of the program; each returns the exit status. */
int ald_program_list(const AldComputeOptions *options, const AldRunner *runner, const AldCache *cache);
int ald_program_measure(const AldComputeOptions *options, const AldRunner *runner, const AldCache *cache);
