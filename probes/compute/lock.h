/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"
#include "probes/compute/cache.h"

/*
 * One probe at a time of a user: two would measure each other. Other users are not waited for, since any of
 * them could then keep the service from measuring; what they compute is noticed as any other work is, for as
 * long as it lasts. A file descriptor that keeps the others out, or a failure of kind busy.
 */
int ald_lock_take(const AldCache *cache, AldFailure *failure);
