/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/receiver.h"

/* The timer that updates the presence of other nodes as time passes. */
typedef struct AldPresenceTimer AldPresenceTimer;

/* Creates the timer; nothing is due yet. The receiver must outlive it. */
AldPresenceTimer *ald_presence_timer_new(AldReceiver *receiver);
void ald_presence_timer_free(AldPresenceTimer *presence_timer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPresenceTimer, ald_presence_timer_free)

/* Sets when to update presences next, in µs of CLOCK_MONOTONIC, as in AldReceiverHandler. Later times than
 * the present one are ignored. */
void ald_presence_timer_set_due(AldPresenceTimer *presence_timer, uint64_t due_usec);
