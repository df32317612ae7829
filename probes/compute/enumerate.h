/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/cache.h"
#include "probes/compute/runner.h"

/*
 * The devices of the machine, with their ids: a list of AldDevice. Where a driver crashes or hangs, the
 * others are asked one by one, and those that do not answer are left out.
 */
int ald_enumerate(const AldRunner *runner, AldCache *cache, GPtrArray **ret, AldFailure *failure);
