/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"
#include "probes/compute/cache.h"

/*
 * Takes a lock for one probe at a time per user, since two would disturb each other. There is no lock across
 * users, since any of them could then prevent the service from measuring; their probes are detected like any
 * other work. Returns a file descriptor that holds the lock, or a failure of kind busy.
 */
int ald_lock_take(const AldCache *cache, AldFailure *failure);
