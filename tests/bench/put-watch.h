/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Watches the bus as a monitor does, in a thread of its own, for PutRecords() of the cluster service: a
 * record is in the state service when the reply to the call that has it is sent. Lag is the time from its
 * `updated`, taken just before it was published, until the monitor has that reply.
 */
typedef struct PutWatch PutWatch;

PutWatch *put_watch_start(const char *bus_address);

/* From now on records count that were published after this; their lags are forgotten so far. */
void put_watch_begin(PutWatch *watch);

/* Records published later do not count; those before still do. */
void put_watch_end(PutWatch *watch);

/* The lags in ms, sorted (array of double); to be called a while after the end. */
GArray *put_watch_lags(PutWatch *watch);
