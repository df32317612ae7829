/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"
#include "services/history/finding-log.h"
#include "services/history/record-feed.h"

/*
 * Keeps the history of what a model shows: flushes samples once a minute, compares results with their past,
 * and follows the findings. The caller passes on everything that happens to the model, in the main loop.
 */
typedef struct AldHistoryManager AldHistoryManager;

typedef enum AldHistoryNews {
        ALD_HISTORY_NEWS_NOTICE,
        ALD_HISTORY_NEWS_SILENCES,
        ALD_HISTORY_NEWS_FINDINGS,   /* of ald_history_manager_slower() */
        ALD_HISTORY_NEWS_PROPERTIES, /* the scope, the problem or the budget may have changed */
} AldHistoryNews;

/* The notice is NULL unless it is the news. */
typedef void (*AldHistoryTold)(AldHistoryNews news, const AldFindingNotice *notice, void *userdata);

AldHistoryManager *ald_history_manager_new(AldModel *model, const char *directory, const AldConfig *config);
void ald_history_manager_free(AldHistoryManager *manager);

/* Call it once, and nothing but _free() before it. The callback is not called while the manager is freed. */
void ald_history_manager_watch(AldHistoryManager *manager, AldHistoryTold told, void *userdata);

/* From now on the directory is ours. */
void ald_history_manager_begin(AldHistoryManager *manager);
void ald_history_manager_configure(AldHistoryManager *manager, const AldConfig *config);

/* The model holds everything and is kept up to date; or is so no longer. */
void ald_history_manager_synced(AldHistoryManager *manager);
void ald_history_manager_lost(AldHistoryManager *manager);
/* The model has changed; see AldModelChanged. */
void ald_history_manager_change(AldHistoryManager *manager, const AldChange *change);
/* The findings of the model have been read again. */
void ald_history_manager_findings(AldHistoryManager *manager);

/* What the bus shows. */
const char *ald_history_manager_scope(const AldHistoryManager *manager);
const char *ald_history_manager_problem(const AldHistoryManager *manager);
uint64_t ald_history_manager_budget(const AldHistoryManager *manager);
/* Entries that the journal has not taken. */
uint64_t ald_history_manager_lost_entries(const AldHistoryManager *manager);
AldHistory *ald_history_manager_history(const AldHistoryManager *manager);
const AldFindingLog *ald_history_manager_log(const AldHistoryManager *manager);
/* From when to when something may be recorded. Returns as ald_history_oldest() does. */
int ald_history_manager_range(const AldHistoryManager *manager, uint64_t *ret_oldest, uint64_t *ret_now);
/* Whether a node or link is within the scope; its id as in AldEntity. */
bool ald_history_manager_keeps(const AldHistoryManager *manager, const char *id);
/* What is slower than its past, as new rows; free the array. */
GPtrArray *ald_history_manager_slower(const AldHistoryManager *manager);

/* Why such a silence cannot begin now, whatever its nodes, or NULL. */
const char *ald_history_silence_refuse(const AldSilenceRow *row);
/* Sets when it began, which is now. Errors of ald_finding_log_silence(). */
int ald_history_manager_silence(AldHistoryManager *manager, AldSilenceRow *row);
int ald_history_manager_unsilence(AldHistoryManager *manager, const char *node, const char *peer);
