/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/progress.h"
#include "clients/command-line/text.h"

#define CLEAR_LINE "\r\033[K"

static bool can_draw(void)
{
        const char *term = getenv("TERM");

        return isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

static unsigned columns(void)
{
        struct winsize size = { 0 };

        return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) >= 0 && size.ws_col > 1 ? size.ws_col : 80;
}

AldJobProgress ald_job_progress_begin(bool for_program)
{
        AldJobProgress progress = { .bar = can_draw() };

        progress.quiet = for_program && !progress.bar;
        return progress;
}

static char *describe(const AldJobProgress *progress, const json_t *job, const char *name)
{
        g_autofree char *step = NULL;

        /* The last column is left free: what goes there would wrap in some terminals. */
        if (progress->bar)
                return ald_job_progress(job, name, columns() - 1);
        step = ald_job_step(job);
        return g_strdup_printf("%s: %s", name, step);
}

void ald_job_progress_show(AldJobProgress *progress, const json_t *job, const char *name)
{
        g_autofree char *text = describe(progress, job, name), *rendered = NULL;

        if (progress->quiet || g_strcmp0(text, progress->shown) == 0)
                return;
        rendered = ald_text_render(text, false, g_get_charset(NULL));
        if (progress->bar)
                fprintf(stderr, CLEAR_LINE "%s", rendered);
        else
                fprintf(stderr, "%s\n", rendered);
        fflush(stderr);
        g_free(progress->shown);
        progress->shown = g_steal_pointer(&text);
}

void ald_job_progress_end(AldJobProgress *progress)
{
        if (progress->bar && progress->shown)
                fputs(CLEAR_LINE, stderr);
        g_clear_pointer(&progress->shown, g_free);
}

void ald_job_progress_clear(AldJobProgress *progress)
{
        g_clear_pointer(&progress->shown, g_free);
}
