/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/storage/read.h"

/* The results of several file systems, as one Message1.StorageResult. */
typedef struct AldStorageReport AldStorageReport;

AldStorageReport *ald_storage_report_new(void);
void ald_storage_report_free(AldStorageReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStorageReport, ald_storage_report_free)

/*
 * Adds a file system, which must outlive the report. measure: NULL if it was not measured; otherwise
 * now_realtime (µs) is when that ended. failure: NULL, or why there is no figure.
 */
void ald_storage_report_add(AldStorageReport *report, const AldModelFileSystem *found,
        const AldStorageMeasure *measure, const AldFailure *failure, uint64_t now_realtime);

/* Adds why a path has no file system. */
void ald_storage_report_add_problem(AldStorageReport *report, const AldStorageProblem *problem);

/* One line of JSON; NULL if it exceeds the limit of a record. Free with g_free(). */
char *ald_storage_report_to_json(const AldStorageReport *report);

/* The same for people, a few lines for each file system; free with g_free(). */
char *ald_storage_report_to_text(const AldStorageReport *report);
