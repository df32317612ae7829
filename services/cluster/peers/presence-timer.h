/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/receiver.h"

/* The timer that updates the presence of other nodes as time passes. */
typedef struct AldPresenceTimer AldPresenceTimer;

/* The receiver stays the caller's. Nothing is due yet. */
AldPresenceTimer *ald_presence_timer_new(AldReceiver *receiver);
void ald_presence_timer_free(AldPresenceTimer *presence_timer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPresenceTimer, ald_presence_timer_free)

/* When the receiver next updates presences, as its handler is told: CLOCK_MONOTONIC in µs. */
void ald_presence_timer_set_due(AldPresenceTimer *presence_timer, uint64_t due_usec);
