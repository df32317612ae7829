/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "record/schema.h"

/*
 * Limits how many findings are reported one by one: each reporter may cause ALD_NOTICES_SAVED notices at
 * once, and one per ALD_NOTICE_USEC in the long run. Others are withheld: they are counted by their Id and
 * severity until the reporter may cause another notice, which states their number; the most severe and then
 * the oldest come first. Findings without a reporter, which this machine concludes about all nodes, may cause
 * ALD_NOTICES_UNREPORTED times as many. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldNoticeLimit AldNoticeLimit;

#define ALD_NOTICES_SAVED 20u
#define ALD_NOTICES_UNREPORTED 20u
#define ALD_NOTICE_USEC (UINT64_C(300) * 1000 * 1000)

/* Withheld findings of one reporter with the same Id and severity. */
typedef struct AldWithheld {
        char *reporter, *name; /* id and name of a node; NULL if there is none */
        char *finding, *severity;
        char *key; /* of the alert of the first one */
        uint64_t n, began_usec;
} AldWithheld;

void ald_withheld_free(AldWithheld *withheld);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWithheld, ald_withheld_free)

AldNoticeLimit *ald_notice_limit_new(void);
void ald_notice_limit_free(AldNoticeLimit *limit);

/* Returns whether to report a finding by itself; otherwise it was counted. `key` is the key of its alert. */
bool ald_notice_limit_take(
        AldNoticeLimit *limit, const AldFindingRow *row, const char *key, uint64_t began_usec, uint64_t now);

/* Returns withheld findings that may be reported now, or NULL. Call it until it returns NULL. */
AldWithheld *ald_notice_limit_next(AldNoticeLimit *limit, uint64_t now);

/* Returns when ald_notice_limit_next() will return something; absent for never. */
uint64_t ald_notice_limit_due(const AldNoticeLimit *limit);

/* Returns the number of findings withheld so far. */
uint64_t ald_notice_limit_count(const AldNoticeLimit *limit);

/* Convert the accounts to and from JSON, so that a restart changes nothing: [{"reporter": "…", "saved": 1.5,
 * "at": …, "withheld": [{"name": "…", "finding": "…", "severity": "…", "key": "…", "n": …, "began": …}]}].
 * The count is not included. Invalid entries are dropped. */
json_t *ald_notice_limit_to_json(const AldNoticeLimit *limit);
void ald_notice_limit_add_json(AldNoticeLimit *limit, json_t *json);
