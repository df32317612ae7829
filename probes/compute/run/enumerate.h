/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/cache.h"
#include "probes/compute/run/runner.h"

/*
 * Lists the devices of the machine, with their ids, as AldOpenclTarget. Each driver is queried separately, so
 * that one that crashes or hangs affects its own devices only. These are left out, with a message on stderr.
 */
int ald_enumerate(const AldRunner *runner, const AldCache *cache, GPtrArray **ret, AldFailure *failure);
