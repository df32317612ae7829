/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/command-line/terminal-text.h"

#define BAR_MAX 30u
#define BAR_LEAST 5u
#define LABEL_WIDTH 10

static void append_bar(GString *out, double progress, unsigned width)
{
        unsigned filled = (unsigned) lround(progress * width);

        for (unsigned i = 0; i < width; i++)
                g_string_append(out, i < filled ? "█" : "░");
}

char *ald_job_progress(const AldProbeJob *job, const char *name, unsigned columns)
{
        double progress = CLAMP(job->progress, 0, 1);
        g_autofree char *step = ald_job_step(job), *text = g_strdup_printf("%s: %s", name, step);
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *cut = NULL;
        unsigned room;

        if (isnan(progress) || columns < BAR_LEAST + 6)
                return ald_text_cut(text, columns);
        room = columns / 2 - 6;
        room = CLAMP(room, BAR_LEAST, BAR_MAX);
        append_bar(out, progress, room);
        g_string_append_printf(out, " %3.0f %%", floor(progress * 100));
        if (columns > room + 6 + 2) {
                cut = ald_text_cut(text, columns - room - 6 - 2);
                g_string_append_printf(out, "  %s", cut);
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

void ald_probed_path_describe(GString *out, const AldProbedPath *path, const char *name, unsigned columns)
{
        g_autoptr(GPtrArray) facts = ald_probed_path_facts(path, name);

        ald_describe_facts(out, facts, LABEL_WIDTH, columns);
}
