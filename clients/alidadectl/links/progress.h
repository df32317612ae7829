/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* How a job goes, on standard error: a bar on a terminal, elsewhere a line for each step. */
typedef struct AldJobProgress {
        bool bar;
        bool quiet;
        char *shown; /* last, or NULL */
} AldJobProgress;

/* Where a program reads the result it is told no steps; a terminal beside it shows them all the same. */
AldJobProgress ald_job_progress_begin(bool for_program);

/* The name is safe text. */
void ald_job_progress_show(AldJobProgress *progress, const json_t *job, const char *name);

/* Takes the bar away. */
void ald_job_progress_end(AldJobProgress *progress);

void ald_job_progress_clear(AldJobProgress *progress);
