/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Decides when something that has failed is tried again: after a first delay, and while it keeps failing
 * after delays from `least` to `most`, each twice as long as the one before. Once it has worked for longer
 * than `most`, the next delay is the first one again. All delays are in µs. `again` is called in the default
 * main context.
 */
typedef struct AldBackOffDelays {
        gint64 first_usec, least_usec, most_usec;
} AldBackOffDelays;

typedef struct AldBackOff AldBackOff;

/* Creates a back-off that does not wait. The delays must outlive it. `again` is called when a delay is over,
 * and may call the functions below. */
AldBackOff *ald_back_off_new(
        const char *name, const AldBackOffDelays *delays, void (*again)(void *userdata), void *userdata);
void ald_back_off_free(AldBackOff *back_off);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBackOff, ald_back_off_free)

/* Notes a failure: the next attempt follows after the next delay, counted from now. */
void ald_back_off_failed(AldBackOff *back_off);

/* Notes a success: no attempt follows until it fails. */
void ald_back_off_works(AldBackOff *back_off);

/* Drops the waiting attempt, because something else has started one now. */
void ald_back_off_cancel(AldBackOff *back_off);
