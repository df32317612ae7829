/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * The queue of records for the state service: the newest of each key, in the order of first arrival. Beyond
 * the limit, new records are dropped.
 */
typedef struct AldOutbox AldOutbox;

#define ALD_OUTBOX_BYTES (64u * 1024 * 1024)

AldOutbox *ald_outbox_new(size_t max_bytes);
void ald_outbox_free(AldOutbox *outbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOutbox, ald_outbox_free)

/* Queues a record; copies the key and takes a reference to the record. Returns false if there is no room. */
bool ald_outbox_add(AldOutbox *outbox, const AldUpdate *update);

/* Returns the oldest record, or NULL; valid until the next call. */
const AldUpdate *ald_outbox_first(AldOutbox *outbox);
void ald_outbox_drop_first(AldOutbox *outbox);

void ald_outbox_clear(AldOutbox *outbox);
/* Drops the records of one node. */
void ald_outbox_forget(AldOutbox *outbox, const AldId *node);
size_t ald_outbox_count(const AldOutbox *outbox);
