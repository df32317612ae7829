/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * Work that nodes cause, done from the main loop, one item at a time: nodes take turns, and each may cause at
 * most ALD_FAIR_SAVED items at once and one a second in the long run. What exceeds that waits.
 */
typedef struct AldFairQueue AldFairQueue;

#define ALD_FAIR_SAVED 4096u

/* Part of an item; zero at first, and in the queue while its data is set. */
typedef struct AldFairPlace {
        GList link;
        struct AldFairAccount *account;
} AldFairPlace;

typedef void (*AldFairServe)(AldFairPlace *place, void *userdata);

AldFairQueue *ald_fair_queue_new(AldFairServe serve, void *userdata);
void ald_fair_queue_free(AldFairQueue *queue);

/* What is in the queue already keeps its place. */
void ald_fair_queue_push(AldFairQueue *queue, const char *node, AldFairPlace *place);
/* Does nothing if it is not there. */
void ald_fair_queue_remove(AldFairQueue *queue, AldFairPlace *place);

/* Whether something waits, other than for a node that has caused too much. */
bool ald_fair_queue_is_busy(AldFairQueue *queue);
