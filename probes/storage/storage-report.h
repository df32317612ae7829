/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/storage/read.h"

/* The results of several file systems, as one Message1.StorageResult. */
typedef struct AldStorageReport AldStorageReport;

AldStorageReport *ald_storage_report_new(void);
void ald_storage_report_free(AldStorageReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStorageReport, ald_storage_report_free)

/*
 * Adds a file system, which must outlive the report. `measure` is NULL if it was not measured; otherwise
 * now_realtime (µs) is the time when that ended. `failure` is NULL, or the reason why there is no figure.
 */
void ald_storage_report_add(AldStorageReport *report, const AldModelFileSystem *found,
        const AldStorageMeasure *measure, const AldFailure *failure, uint64_t now_realtime);

/* Adds the reason why a path has no file system. */
void ald_storage_report_add_problem(AldStorageReport *report, const AldStorageProblem *problem);

/* Formats the report as a line of JSON, or returns NULL if that exceeds the limit of a record. Free it with
 * g_free(). */
char *ald_storage_report_to_json(const AldStorageReport *report);

/* Formats the report for people, in a few lines for each file system. Free it with g_free(). */
char *ald_storage_report_to_text(const AldStorageReport *report);
