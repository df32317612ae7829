/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "record/record.h"
#include "services/history/store/history-store.h"

/*
 * Turns records into samples: each number in them is a series, and so is each number in their rows, as
 * FIELD[ID].COLUMN; times are not recorded. A number has a sample when it changes by more than its precision,
 * a quarter of its threshold, and every 30 s. Results of probes, in records and rows with MeasuredUSec, have
 * one sample for each measurement, at its time. A number that becomes unknown has a gap.
 */
#define ALD_RECORDER_RESEND_USEC (INT64_C(30) * 1000000)

typedef struct AldRecorder AldRecorder;

/* Returns whether a kind can have a series of this name: FIELD or FIELD[ID].COLUMN of a number. */
bool ald_recorder_is_field(AldKind kind, const char *field);

AldRecorder *ald_recorder_new(AldHistory *history);
void ald_recorder_free(AldRecorder *recorder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldRecorder, ald_recorder_free)

/* Records a new record of a node or, with a key, of a link. */
void ald_recorder_take(
        AldRecorder *recorder, const AldId *node, const char *key, AldRecord *record, int64_t now);

/* Ends the series of a record that is gone, or whose node is offline: they become unknown. */
void ald_recorder_end(AldRecorder *recorder, const AldId *node, AldKind kind, const char *key, int64_t now);

/* Ends the series of all records. */
void ald_recorder_end_all(AldRecorder *recorder, int64_t now);
