/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/receiver.h"

/* The timer that updates the presence of other nodes as time passes. */
typedef struct AldPresenceTimer AldPresenceTimer;

/* The receiver stays the caller's. Nothing is due yet. */
AldPresenceTimer *ald_presence_timer_new(AldReceiver *receiver);
void ald_presence_timer_free(AldPresenceTimer *presence_timer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPresenceTimer, ald_presence_timer_free)

/* When to update presences next, in µs of CLOCK_MONOTONIC, as in AldReceiverHandler. */
void ald_presence_timer_set_due(AldPresenceTimer *presence_timer, uint64_t due_usec);
