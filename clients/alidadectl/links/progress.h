/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Shows the progress of a job on standard error: a bar on a terminal, otherwise a line for each step. */
typedef struct AldJobProgress {
        bool bar;
        bool quiet;
        char *shown; /* the last line, or NULL */
} AldJobProgress;

/* Steps are not printed if a program reads the result, unless standard error is a terminal. */
AldJobProgress ald_job_progress_begin(bool for_program);

/* The name is safe text. */
void ald_job_progress_show(AldJobProgress *progress, const json_t *job, const char *name);

/* Removes the bar. */
void ald_job_progress_end(AldJobProgress *progress);

void ald_job_progress_clear(AldJobProgress *progress);
