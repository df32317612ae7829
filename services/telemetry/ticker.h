/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Runs callbacks at regular intervals in the default main context. Times are whole multiples of the interval
 * on CLOCK_MONOTONIC, so that intervals which divide one another share their wakeups. Missed runs are
 * skipped.
 */
typedef struct AldTicker AldTicker;

typedef void (*AldTick)(void *userdata);

AldTicker *ald_ticker_new(void);
void ald_ticker_free(AldTicker *ticker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTicker, ald_ticker_free)

/* Adds a callback, and returns its number, starting with 0. */
unsigned ald_ticker_add(AldTicker *ticker, uint64_t interval_usec, AldTick tick, void *userdata);

/* Runs the callback once after this delay, ahead of its schedule. */
void ald_ticker_hasten(AldTicker *ticker, unsigned number, uint64_t delay_usec);

uint64_t ald_ticker_interval(const AldTicker *ticker, unsigned number);
void ald_ticker_set_interval(AldTicker *ticker, unsigned number, uint64_t interval_usec);

/* Returns the next multiple of the interval, or the one after it if the next is less than a quarter of the
 * interval away, since too little time to measure would have passed by then. */
uint64_t ald_ticker_next(uint64_t now_usec, uint64_t interval_usec);
