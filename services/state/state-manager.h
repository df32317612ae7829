/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"
#include "state/findings/findings.h"

/*
 * The state service without the bus: stamps the records of this node, merges the records of other nodes,
 * removes expired ones, and keeps expensive results across a restart.
 */
typedef struct AldStateManager AldStateManager;

extern const AldConfigKey ald_state_config_keys[];

/* Loads the saved records from the state directory, but writes nothing there yet. Errors are not fatal. */
AldStateManager *ald_state_manager_new(const AldId *local, const AldConfig *config);
void ald_state_manager_free(AldStateManager *manager);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStateManager, ald_state_manager_free)

/* Saves results from now on. Call it once this process owns the name of the service. */
void ald_state_manager_begin_saving(AldStateManager *manager);

/* Applies the configuration; call it after a reload. max-nodes takes effect after a restart. */
void ald_state_manager_configure(AldStateManager *manager, const AldConfig *config);

AldStore *ald_state_manager_store(AldStateManager *manager);

/* Returns when the manager was created, CLOCK_MONOTONIC in µs. */
uint64_t ald_state_manager_started(const AldStateManager *manager);

/* Does what ald_findings_compute() does, for the present, including the problem of this machine's history
 * service. */
GPtrArray *ald_state_manager_findings(const AldStateManager *manager);
/* Does the same as ald_findings_round_new(). */
AldFindingsRound *ald_state_manager_begin_findings(const AldStateManager *manager);
void ald_state_manager_set_history_problem(AldStateManager *manager, const char *problem);

/* Returns how long records of nodes that are no longer heard are kept, in µs. */
uint64_t ald_state_manager_expiry(const AldStateManager *manager);

/* Adds a watcher, which is called on each change and before each entry is removed. */
void ald_state_manager_watch(
        AldStateManager *manager, AldStoreChanged changed, AldStoreRemoving removing, void *userdata);

/* Stores a record that a service on this node has measured, at the time in its envelope. */
void ald_state_manager_put_local(AldStateManager *manager, AldKind kind, const char *key, AldRecord *record);

/* Deletes such a record. */
void ald_state_manager_delete_local(AldStateManager *manager, AldKind kind, const char *key);

/* Merges a record of another node. Refusals are counted, and logged at a limited rate. Returns true if it was
 * not refused. */
bool ald_state_manager_put(AldStateManager *manager, const AldUpdate *update);

/* Counts a record that could not be read; `field` may be NULL. */
void ald_state_manager_refuse(
        AldStateManager *manager, const char *node, const char *kind, const char *field, const char *reason);
uint64_t ald_state_manager_refused(const AldStateManager *manager);

/* Returns whether a time or an epoch is implausibly far ahead; see state/store/clock.h. */
bool ald_state_manager_is_ahead(AldStateManager *manager, uint64_t usec);

/* Notes that another connection puts the records of other nodes from now on, so that a newer epoch of our own
 * id may be adopted once more. */
void ald_state_manager_new_cluster(AldStateManager *manager);
