/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-progress.h"
#include "record/message.h"

#define STEP 50u /* permille */
#define WIDTH 30u

static void draw_bar(const AldProgress *progress)
{
        char bar[WIDTH + 1] = "";

        memset(bar, '.', WIDTH);
        memset(bar, '#', WIDTH * progress->permille / 1000);
        fprintf(stderr, "\r%s%s%-10s [%s]", progress->label ?: "", progress->label ? " " : "",
                progress->phase, bar);
        fflush(stderr);
}

void ald_progress_report(AldProgress *progress, const char *phase, double fraction)
{
        unsigned permille = (unsigned) (CLAMP(fraction, 0, 1) * 1000);
        struct pollfd ready = { progress->fd, POLLOUT, 0 };
        AldProbeProgress message = ALD_PROBE_PROGRESS_INIT;
        g_autofree char *text = NULL, *line = NULL;
        ssize_t size;

        if (progress->phase == phase && permille < progress->permille + STEP)
                return;
        progress->phase = phase;
        progress->permille = permille;
        if (progress->terminal)
                draw_bar(progress);
        /* A slow reader misses steps, lest it delay the measurement. A pipe that is ready takes a whole line.
         */
        if (progress->fd < 0 || poll(&ready, 1, 0) <= 0)
                return;
        message.device = progress->device;
        message.metric = progress->metric;
        message.phase = phase;
        message.fraction = permille / 1000.0;
        text = ald_message_format(ALD_KIND_PROBE_PROGRESS, &message);
        line = g_strconcat(text, "\n", NULL);
        size = (ssize_t) strlen(line);
        /* The reader has closed it. */
        if (write(progress->fd, line, (size_t) size) != size)
                progress->fd = -1;
}

void ald_progress_end(AldProgress *progress)
{
        if (progress->terminal && progress->phase)
                fputs("\r\033[K", stderr);
        progress->phase = NULL;
}
