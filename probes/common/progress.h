/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* How far a measurement is: a line on a terminal, or JSON for a program. */
typedef struct AldProgress {
        int fd; /* -1: nobody wants JSON */
        bool terminal;
        const char *label;           /* what it is of, for the terminal; NULL: nothing more to say */
        const char *device, *metric; /* of a compute device; NULL for a link */
        const char *phase;
        unsigned permille;
} AldProgress;

/* Reports it if it has changed enough: ProbeProgress of record/messages/probe.xml. */
void ald_progress_tell(AldProgress *progress, const char *phase, double fraction);

/* Takes the line off the terminal. */
void ald_progress_end(AldProgress *progress);
