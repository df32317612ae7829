/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-kind.h"
#include "state/results/row-result.h"

/* The last result or failure since the start of each device of a local kind, and whether a measurement waits:
 * a record with a row for each device. The state service merges them with earlier results and counts
 * failures. */
typedef struct AldRowResults AldRowResults;

/* The kind must have `local`. */
AldRowResults *ald_row_results_new(const AldProbeKind *kind);
void ald_row_results_free(AldRowResults *results);

/* Sets the callback for each change, or NULL for none. */
void ald_row_results_watch(
        AldRowResults *results, void (*changed)(const AldRecord *record, void *userdata), void *userdata);

/* Stores an answer; one that is neither a result nor a failure changes nothing, and neither does one of a
 * partial target. The time is CLOCK_REALTIME in µs. */
void ald_row_results_take(AldRowResults *results, const AldProbeTarget *target, const AldProbeAnswer *answer,
        uint64_t realtime_usec);

/* Returns whether the last measurement of the device failed because other work used it. */
bool ald_row_results_met_other_work(const AldRowResults *results, const char *device);

/* Returns the row of a device, of the row type of its record, or NULL. */
const void *ald_row_results_find(const AldRowResults *results, const char *device);

/* Copies a row of this type in place of the one of the same device. The state service keeps earlier
 * figures. */
void ald_row_results_put(AldRowResults *results, const void *row);

/* Returns these fields of the row of a device, all absent if it has none. */
AldResultRow ald_row_results_read(const AldRowResults *results, const char *device);
/* Returns the same fields; without such a row, those of `stored`, the record of the state service, which may
 * be NULL. */
AldResultRow ald_row_results_read_known(
        const AldRowResults *results, const AldRecord *stored, const char *device);

/* Returns whether the device has any figures, of its row or of `stored`, which may be NULL. */
bool ald_row_results_have_figures(const AldRowResults *results, const AldRecord *stored, const char *device);

/* Sets since when a measurement of the device has been waiting, and why; absent and NULL if none waits. */
void ald_row_results_wait(
        AldRowResults *results, const char *device, uint64_t since_usec, const char *reason);
