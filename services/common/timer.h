/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * A timer of the default main context, to be set from callbacks of that loop only. Setting it is cheap,
 * whereas changing the ready time of a GSource wakes the loop through a file descriptor, as if from another
 * thread.
 */
typedef struct AldTimer AldTimer;

#define ALD_TIMER_NEVER G_MAXINT64

/* Creates a timer that is not set. It is no longer set when `expired` is called. */
AldTimer *ald_timer_new(const char *name, void (*expired)(void *userdata), void *userdata);
void ald_timer_free(AldTimer *timer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTimer, ald_timer_free)

/* Sets when it expires, in µs of CLOCK_MONOTONIC; replaces the previous time. */
void ald_timer_set(AldTimer *timer, gint64 due_usec);
