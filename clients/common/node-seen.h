/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"

/* When a node was heard of, by its presence and the age of what it sent. Times are CLOCK_REALTIME in µs; NaN
 * is absent. */

/* What the clock of the node shows now, as far as its offset is known. */
double ald_node_now(const AldEntity *node, double now_usec);

/* "live" while the next sending is not due yet, else the age. Both times are of one clock. */
char *ald_format_record_age(double updated_usec, double now_usec);

/* "offline", "duplicate" or "unknown" where the node does not count for one of these; NULL where it counts,
 * as this machine always does, and where it has no presence. */
const char *ald_node_gone(AldModel *model, const AldEntity *node);

/* "online", "offline, 5 min ago", "unknown, 5 min ago" since when it is so; without a presence only the age.
 * The tone says how good that is. */
char *ald_format_seen(const AldEntity *node, double now_usec, AldTone *ret_tone);
