/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"

/* When a node was last heard, according to its presence and the age of its records. Times are CLOCK_REALTIME
 * in µs; NaN is absent. */

/* The current time of the node's clock, as far as its offset is known. */
double ald_node_now(const AldEntity *node, double now_usec);

/* "live" until the next update is due, else the age. Both times are from the same clock. */
char *ald_format_record_age(double updated_usec, double now_usec);

/* "offline", "duplicate" or "unknown" if the node does not count for this reason; NULL if it counts, as this
 * machine always does, or has no presence. */
const char *ald_node_gone(AldModel *model, const AldEntity *node);

/* "online", "offline, 5 min ago", "unknown, 5 min ago" with the time since then; without a presence only the
 * age. Sets the tone accordingly. */
char *ald_format_seen(const AldEntity *node, double now_usec, AldTone *ret_tone);
