/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * Does the work that nodes cause from the main loop, one item at a time. Nodes take turns, and each may cause
 * at most ALD_FAIR_SAVED items at once and one a second in the long run. Items beyond that wait.
 */
typedef struct AldFairQueue AldFairQueue;

#define ALD_FAIR_SAVED 4096u

/* Part of an item. Zero at first; in the queue while its data is set. */
typedef struct AldFairPlace {
        GList link;
        struct AldFairAccount *account;
} AldFairPlace;

typedef void (*AldFairServe)(AldFairPlace *place, void *userdata);

AldFairQueue *ald_fair_queue_new(AldFairServe serve, void *userdata);
void ald_fair_queue_free(AldFairQueue *queue);

/* Adds an item. One that is already in the queue keeps its place. */
void ald_fair_queue_push(AldFairQueue *queue, const char *node, AldFairPlace *place);
/* Does nothing if the item is not in the queue. */
void ald_fair_queue_remove(AldFairQueue *queue, AldFairPlace *place);

/* Returns whether an item waits, not counting those of nodes that have caused too many. */
bool ald_fair_queue_is_busy(AldFairQueue *queue);
