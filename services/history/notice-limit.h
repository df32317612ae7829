/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "record/schema.h"

/*
 * How many findings are reported one by one: each reporter may cause ALD_NOTICES_SAVED notices at once, and
 * one in ALD_NOTICE_USEC in the long run. Others are withheld. They are counted by their Id and severity, the
 * most severe and then the oldest first, until the reporter may cause another notice, which says how many
 * they are. Findings without a reporter, which this machine concludes of all nodes, may cause
 * ALD_NOTICES_UNREPORTED times as many. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldNoticeLimit AldNoticeLimit;

#define ALD_NOTICES_SAVED 20u
#define ALD_NOTICES_UNREPORTED 20u
#define ALD_NOTICE_USEC (UINT64_C(300) * 1000 * 1000)

/* Findings of one Id and severity that one reporter has and that were withheld. */
typedef struct AldWithheld {
        char *reporter, *name; /* id and name of a node; NULL: none */
        char *finding, *severity;
        char *key; /* of the alert of the first */
        uint64_t n, began_usec;
} AldWithheld;

void ald_withheld_free(AldWithheld *withheld);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWithheld, ald_withheld_free)

AldNoticeLimit *ald_notice_limit_new(void);
void ald_notice_limit_free(AldNoticeLimit *limit);

/* Whether a finding is to be reported by itself; otherwise it was counted. `key` is that of its alert. */
bool ald_notice_limit_take(
        AldNoticeLimit *limit, const AldFindingRow *row, const char *key, uint64_t began_usec, uint64_t now);

/* What is to be reported now of what was withheld; NULL: nothing. To be called until there is nothing. */
AldWithheld *ald_notice_limit_next(AldNoticeLimit *limit, uint64_t now);

/* When that has something; absent: never. */
uint64_t ald_notice_limit_due(const AldNoticeLimit *limit);

/* Findings that were withheld so far. */
uint64_t ald_notice_limit_count(const AldNoticeLimit *limit);

/* As JSON, so that a restart neither forgets nor forgives: [{"reporter": "…", "saved": 1.5, "at": …,
 * "withheld": [{"name": "…", "finding": "…", "severity": "…", "key": "…", "n": …, "began": …}]}]. The count
 * is not part of it. Invalid entries are dropped. */
json_t *ald_notice_limit_to_json(const AldNoticeLimit *limit);
void ald_notice_limit_add_json(AldNoticeLimit *limit, json_t *json);
