/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

/* A point in time of the main thread, in µs. */
typedef struct Moment {
        double wall;   /* CLOCK_MONOTONIC */
        double cpu;    /* its processor time */
        double queued; /* how long it has been ready to run without a processor */
} Moment;

Moment moment_now(void);
double moment_cpu(void);

/* Prints a line of JSON: {"event": …, "wall": …, "cpu": …, "queued": …}. */
void moment_print(const char *event, const Moment *moment);

/* Prints "first-frame" after the first frame of a window, which is not realized yet. */
void moment_print_first_frame(GtkWidget *window);
