/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/sparkline.h"

#define STEADY 0.02 /* of the greater one */

static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

AldSparkScale ald_spark_scale(double least, double greatest)
{
        if (greatest - least <= STEADY * fmax(fabs(least), fabs(greatest)))
                return (AldSparkScale){ greatest, greatest };
        return (AldSparkScale){ least >= 0 && least < greatest / 2 ? 0 : least, greatest };
}

static const char *block_of(double value, const AldSparkScale *scale)
{
        const int n = G_N_ELEMENTS(blocks);
        double share = (value - scale->low) / (scale->high - scale->low);

        if (scale->low == scale->high)
                return blocks[scale->high == 0 ? 0 : n / 2 - 1];
        return blocks[MIN((int) (CLAMP(share, 0, 1) * n), n - 1)];
}

char *ald_sparkline(const AldSpark *sparks, size_t n, unsigned width, const AldSparkScale *scale)
{
        GString *line = g_string_new(NULL);

        for (unsigned at = 0; at < width; at++) {
                const AldSpark *spark = n > 0 ? &sparks[at * n / width] : NULL;

                if (!spark || !spark->recorded)
                        g_string_append_c(line, ' ');
                else
                        g_string_append(line,
                                isfinite(spark->value) ? block_of(spark->value, scale) : ALD_SPARK_UNKNOWN);
        }
        return g_string_free(line, FALSE);
}

typedef enum Mark {
        MARK_NONE,
        MARK_LASTED,
        MARK_BEGAN,
        MARK_ENDED,
        MARK_BOTH,
} Mark;

static const char *const marks_shown[] = { " ", "─", "▲", "▼", "◆" };

static void set_mark(guint8 *mark, Mark what)
{
        if (*mark <= MARK_LASTED)
                *mark = what;
        else if (what > MARK_LASTED && *mark != what)
                *mark = MARK_BOTH;
}

/* Returns the index of the character for a time within the span. */
static unsigned position(uint64_t time, uint64_t from, uint64_t to, unsigned width)
{
        return MIN((unsigned) ((double) (time - from) / (double) (to - from) * width), width - 1);
}

static void mark_event(guint8 *marks, const AldSparkEvent *event, uint64_t from, uint64_t to, unsigned width)
{
        bool begins = event->began >= from, ends = event->ended < to;
        unsigned first = begins ? position(event->began, from, to, width) : 0;
        unsigned last = ends ? position(event->ended, from, to, width) : width - 1;

        for (unsigned at = first; at <= last; at++)
                set_mark(&marks[at], MARK_LASTED);
        if (begins)
                set_mark(&marks[first], MARK_BEGAN);
        if (ends)
                set_mark(&marks[last], MARK_ENDED);
}

char *ald_spark_marks(const AldSparkEvent *events, size_t n, uint64_t from, uint64_t to, unsigned width)
{
        g_autofree guint8 *marks = g_new0(guint8, width);
        GString *line = g_string_new(NULL);

        for (size_t i = 0; i < n; i++)
                if (events[i].began < to && events[i].ended >= from && width > 0)
                        mark_event(marks, &events[i], from, to, width);
        for (unsigned at = 0; at < width; at++)
                g_string_append(line, marks_shown[marks[at]]);
        return g_string_free(line, FALSE);
}
