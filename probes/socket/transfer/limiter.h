/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/schema.h"

/* What limits a rate, by the efforts of both sides. Pure. */
AldSocketVerdictLimiter ald_limiter_find(const AldSocketEffort *sender, const AldSocketEffort *receiver);

/* Whether more connections may be faster, because what limits the rate limits each connection separately. */
bool ald_limiter_streams_may_help(const AldSocketEffort *sender, const AldSocketEffort *receiver);
