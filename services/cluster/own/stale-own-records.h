/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * Handles records that brokers have stored from before this machine was reinstalled. They may be of several
 * epochs, in any order, and the state service exceeds such an epoch only once, so only the newest record that
 * arrives within a moment is passed on. Whatever this machine publishes replaces them, so they arrive at once
 * or never.
 */
typedef struct AldStaleOwnRecords AldStaleOwnRecords;

#define ALD_STALE_OWN_USEC (1000 * 1000)

/* Handles the newest record. Returns false to be called again later. */
typedef bool (*AldStaleOwnRecordsHandle)(const AldUpdate *update, void *userdata);

AldStaleOwnRecords *ald_stale_own_records_new(AldStaleOwnRecordsHandle handle, void *userdata);
void ald_stale_own_records_free(AldStaleOwnRecords *stale);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStaleOwnRecords, ald_stale_own_records_free)

void ald_stale_own_records_found(AldStaleOwnRecords *stale, const AldUpdate *update);
