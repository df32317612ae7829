/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The progress of a measurement: a line on a terminal, or JSON for a program. */
typedef struct AldProgress {
        int fd; /* -1: no JSON */
        bool terminal;
        const char *label;           /* what is measured, for the terminal; may be NULL */
        const char *device, *metric; /* of a compute device; NULL for a link */
        const char *phase;
        unsigned permille;
} AldProgress;

/* Reports the progress if it has changed enough, as ProbeProgress of record/messages/probe.xml. */
void ald_progress_report(AldProgress *progress, const char *phase, double fraction);

/* Removes the line from the terminal. */
void ald_progress_end(AldProgress *progress);
