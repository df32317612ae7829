/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Runs what is due at regular times, in the default main context. Times are whole multiples of their interval
 * on CLOCK_MONOTONIC, so that intervals which divide one another share their wakeups. What was missed is not
 * made up for.
 */
typedef struct AldTicker AldTicker;

typedef void (*AldTick)(void *userdata);

AldTicker *ald_ticker_new(void);
void ald_ticker_free(AldTicker *ticker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTicker, ald_ticker_free)

/* Adds what is to be run at an interval, and returns its number; the first gets 0. */
unsigned ald_ticker_add(AldTicker *ticker, uint64_t interval_usec, AldTick tick, void *userdata);

/* Runs it once before its time. */
void ald_ticker_hasten(AldTicker *ticker, unsigned number, uint64_t delay_usec);

uint64_t ald_ticker_interval(const AldTicker *ticker, unsigned number);
void ald_ticker_set_interval(AldTicker *ticker, unsigned number, uint64_t interval_usec);

/* The next multiple of the interval, but one, where it is nearer than a quarter of it: too little would have
 * passed to measure. */
uint64_t ald_ticker_next(uint64_t now_usec, uint64_t interval_usec);
