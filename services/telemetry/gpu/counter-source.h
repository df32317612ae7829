/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/*
 * What the kernel says of Intel's GPUs with CAP_PERFMON only: memory in use and usage, from the witness of
 * counters. A question counts as use of the device, so one that has no work is asked for so rarely that it
 * can fall asleep in between.
 */
typedef struct AldCounterSource AldCounterSource;

#define ALD_COUNTERS_IDLE_EVERY_USEC (INT64_C(15) * 1000 * 1000)

AldCounterSource *ald_counter_source_new(void);
void ald_counter_source_free(AldCounterSource *source);

/* Asks about these devices, which must be awake, if they are due. */
void ald_counter_source_ask(AldCounterSource *source, const char *const *ids, int64_t now_usec);

/* Fills in the figures that the device lacks, from the last answer. */
void ald_counter_source_complete(const AldCounterSource *source, AldDevice *device);

/* Returns why the witness fails; NULL if it has not been asked or works. */
const char *ald_counter_source_reason(const AldCounterSource *source);
