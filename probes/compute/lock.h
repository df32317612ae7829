/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"

/*
 * One probe at a time on a machine: two would measure each other. A file descriptor that holds the others
 * off, or a failure of kind busy.
 */
int ald_lock_take(AldFailure *failure);
