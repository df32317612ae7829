/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/cache.h"
#include "probes/compute/run/runner.h"

/*
 * The devices of the machine, with their ids: a list of AldOpenclTarget. Each driver is queried separately,
 * so that a driver that crashes or hangs affects its own devices only; they are left out, with a message on
 * stderr.
 */
int ald_enumerate(const AldRunner *runner, const AldCache *cache, GPtrArray **ret, AldFailure *failure);
