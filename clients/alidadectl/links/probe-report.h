/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/probe.h"
#include "clients/command-line/bus.h"
#include "clients/common/probes/job-run.h"

/* Shows the progress of a job on standard error: a bar on a terminal, otherwise a line for each step. */
typedef struct AldJobProgress {
        bool bar;
        bool quiet;
        char *shown; /* the last line, or NULL */
} AldJobProgress;

/* Begins to show progress. Steps are not printed if a program reads the result, unless standard error is a
 * terminal. */
AldJobProgress ald_job_progress_begin(bool for_program);

/* Shows the present step. The name is safe text. */
void ald_job_progress_show(AldJobProgress *progress, const AldProbeJob *job, const char *name);

/* Removes the bar. */
void ald_job_progress_end(AldJobProgress *progress);

void ald_job_progress_clear(AldJobProgress *progress);

/* One job, from the call that starts it to its result. */
typedef struct AldProbeRequest {
        const AldProbeOrder *order;
        GMainLoop *loop;
        sd_bus *bus;
        GSource *bus_source, *signals;
        AldJobRun *run;
        int exit_code; /* valid when the loop has ended */
        int agent;
        bool canceled;     /* by a signal */
        size_t n_reported; /* paths */
        bool printed;      /* at least one path was printed */
        AldJobProgress progress;
} AldProbeRequest;

/* Reports why there is no result. Returns an exit code. */
int ald_probe_print_error(AldProbeRequest *probe, const sd_bus_error *error);

/* Prints the results of the completed paths. */
void ald_probe_report_paths(AldProbeRequest *probe);

/* Prints the result of the completed job. Returns an exit code. */
int ald_probe_report(AldProbeRequest *probe);
