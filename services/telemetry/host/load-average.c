/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/telemetry/host/load-average.h"

/* The line has three averages, "running/all" tasks and the latest process. */
#define LINE_MAX_BYTES 128u
/* The kernel has no more tasks than PID_MAX_LIMIT. */
#define TASKS_MAX (4.0 * 1024 * 1024)

/* Parses a number of digits and a point, and moves *text past it and the blank after it. */
static bool parse_average(const char **text, double *ret)
{
        char *end;
        double value = g_ascii_isdigit(**text) ? g_ascii_strtod(*text, &end) : -1;

        if (value < 0 || value > TASKS_MAX || (*end != ' ' && *end != '\n'))
                return false;
        *ret = value;
        *text = end + 1;
        return true;
}

void ald_load_average_sample(AldKeptFile *file, AldSystem *system)
{
        double *const averages[] = { &system->load_average1, &system->load_average5,
                &system->load_average15 };
        char line[LINE_MAX_BYTES];
        const char *text = line;

        if (ald_kept_file_read(file, line, sizeof line) < 0)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(averages); i++)
                if (!parse_average(&text, averages[i])) {
                        ald_kept_file_warn(file, -EBADMSG);
                        return;
                }
}
