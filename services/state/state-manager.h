/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/config.h"
#include "state/store.h"

/*
 * What the state service does, without a bus: it stamps what this node measured, merges what other nodes
 * sent, forgets what is gone, and keeps dear results over a restart.
 */
typedef struct AldStateManager AldStateManager;

extern const AldConfigKey ald_state_config_keys[];

/* Loads what was kept in the state directory; nothing of that is fatal. */
AldStateManager *ald_state_manager_new(const AldId *local, const AldConfig *config);
void ald_state_manager_free(AldStateManager *manager);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStateManager, ald_state_manager_free)

/* After the configuration was loaded again. max-nodes takes effect with a restart. */
void ald_state_manager_configure(AldStateManager *manager, const AldConfig *config);

AldStore *ald_state_manager_store(AldStateManager *manager);

/* When it was made, with what was kept: CLOCK_MONOTONIC in µs. */
uint64_t ald_state_manager_started(const AldStateManager *manager);

/* For how long what is not heard of any more is kept, in µs. */
uint64_t ald_state_manager_expiry(const AldStateManager *manager);

/* Called on each change and before each entry is forgotten; several may watch. */
void ald_state_manager_watch(
        AldStateManager *manager, AldStoreChanged changed, AldStoreRemoving removing, void *userdata);

/* Takes in what a source on this node measured. The envelope of the record tells when. */
void ald_state_manager_put_local(AldStateManager *manager, AldKind kind, const char *key, AldRecord *record);

/* Takes in what another node sent; refusals are counted and logged now and then. True where it was not
 * refused. */
bool ald_state_manager_put(AldStateManager *manager, const AldUpdate *update);

/* Counts a record that could not even be read; `field` may be NULL. */
void ald_state_manager_refuse(
        AldStateManager *manager, const char *node, const char *kind, const char *field, const char *reason);
uint64_t ald_state_manager_refused(const AldStateManager *manager);

/* Another connection brings the records of others now; a newer epoch of our own id may be taken over once
 * more. */
/* Whether a time, or an epoch, is further ahead than can be; see state/clock.h. */
bool ald_state_manager_is_ahead(AldStateManager *manager, uint64_t usec);

void ald_state_manager_new_cluster(AldStateManager *manager);
