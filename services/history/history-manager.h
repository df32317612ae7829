/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"
#include "services/history/finding-log.h"
#include "services/history/record-feed.h"

/*
 * Keeps the history of a model: flushes samples once a minute, compares results with their past, and follows
 * the findings. The caller forwards everything that happens to the model, in the main loop.
 */
typedef struct AldHistoryManager AldHistoryManager;

/* The keys of [history] in alidade.conf. */
extern const AldConfigKey ald_history_config_keys[];

typedef enum AldHistoryNews {
        ALD_HISTORY_NEWS_NOTICE,
        ALD_HISTORY_NEWS_SILENCES,
        ALD_HISTORY_NEWS_FINDINGS,   /* of ald_history_manager_slower() */
        ALD_HISTORY_NEWS_PROPERTIES, /* the scope, the problem or the budget may have changed */
} AldHistoryNews;

/* The notice is NULL for other news. */
typedef void (*AldHistoryChanged)(AldHistoryNews news, const AldFindingNotice *notice, void *userdata);

AldHistoryManager *ald_history_manager_new(AldModel *model, const char *directory, const AldConfig *config);
void ald_history_manager_free(AldHistoryManager *manager);

/* Sets the callback. Call it once, before any other function except _free(). The callback is not called while
 * the manager is being freed. */
void ald_history_manager_watch(AldHistoryManager *manager, AldHistoryChanged changed, void *userdata);

/* Takes over the directory, which belongs to this process from now on. */
void ald_history_manager_begin(AldHistoryManager *manager);
void ald_history_manager_configure(AldHistoryManager *manager, const AldConfig *config);

/* Report that the model is complete and kept up to date; and that it no longer is. */
void ald_history_manager_synced(AldHistoryManager *manager);
void ald_history_manager_lost(AldHistoryManager *manager);
/* Reports a change of the model; see AldModelChanged. */
void ald_history_manager_change(AldHistoryManager *manager, const AldChange *change);
/* Reports that the findings of the model have been read again. */
void ald_history_manager_findings(AldHistoryManager *manager);

/* The properties on the bus. */
const char *ald_history_manager_scope(const AldHistoryManager *manager);
const char *ald_history_manager_problem(const AldHistoryManager *manager);
uint64_t ald_history_manager_budget(const AldHistoryManager *manager);
/* Returns the number of entries that the journal did not accept. */
uint64_t ald_history_manager_lost_entries(const AldHistoryManager *manager);
AldHistory *ald_history_manager_history(const AldHistoryManager *manager);
const AldFindingLog *ald_history_manager_log(const AldHistoryManager *manager);
/* Returns the time range that may have records. Errors are those of ald_history_oldest(). */
int ald_history_manager_range(const AldHistoryManager *manager, uint64_t *ret_oldest, uint64_t *ret_now);
/* Returns whether a node or link is within the scope; the id is as in AldEntity. */
bool ald_history_manager_keeps(const AldHistoryManager *manager, const char *id);
/* Returns the slower-than-past findings as new rows; free the array. */
GPtrArray *ald_history_manager_slower(const AldHistoryManager *manager);

/* Returns why such a silence cannot begin now, regardless of its nodes, or NULL. */
const char *ald_history_silence_refuse(const AldSilenceRow *row);
/* Sets the beginning of the silence to the present time. Errors are those of ald_finding_log_silence(). */
int ald_history_manager_silence(AldHistoryManager *manager, AldSilenceRow *row);
int ald_history_manager_unsilence(AldHistoryManager *manager, const char *node, const char *peer);
