/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <time.h>

#include "clients/alidadectl/text/event-text.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/finding-display.h"
#include "clients/common/time-parse.h"

#define TIME_WIDTH 19u     /* 2026-11-26 14:30:05 */
#define DURATION_WIDTH 11u /* 12 d 23 h */
#define INDENT 4u          /* for further lines */

char *ald_event_time(uint64_t usec)
{
        time_t seconds = (time_t) (usec / G_USEC_PER_SEC);
        char text[64] = ""; /* a service may send any year */
        struct tm tm;

        if (localtime_r(&seconds, &tm))
                (void) strftime(text, sizeof text,
                        ald_time_is_repeated(usec) ? "%Y-%m-%d %H:%M:%S %z" : "%Y-%m-%d %H:%M:%S", &tm);
        return g_strdup(text);
}

static char *format_line(const char *began, const char *ended, const char *lasted, const char *finding)
{
        /* A time with an offset is longer than the column; misalignment is better than cutting it. */
        g_autofree char *second = ald_text_fit(ended, MAX(TIME_WIDTH, (unsigned) strlen(ended)), false);
        g_autofree char *third = ald_text_fit(lasted, DURATION_WIDTH, false);

        return g_strdup_printf("%-*s  %s  %s  %s", (int) TIME_WIDTH, began, second, third, finding);
}

void ald_event_text_append_header(GString *out)
{
        const AldListColumn *columns = ald_finding_columns;
        g_autofree char *line = format_line(columns[ALD_FINDING_COLUMN_BEGAN].heading,
                columns[ALD_FINDING_COLUMN_ENDED].heading, columns[ALD_FINDING_COLUMN_LASTED].heading,
                columns[ALD_FINDING_COLUMN_ID].heading);

        g_string_append_printf(out, ALD_STYLE_HEADER "%s" ALD_STYLE_NORMAL "\n", line);
}

static char *format_finding(const AldFindingRow *row)
{
        AldTone tone;
        g_autofree char *severity = ald_finding_severity(row, &tone);
        g_autofree char *head = ald_finding_title(row, NULL);

        return g_strdup_printf("%s%s" ALD_STYLE_NORMAL " %s", ald_tone_style(tone), severity, head);
}

static char *column_text(AldFindingColumn column, const AldFindingListRow *row)
{
        return ald_list_column_text(&ald_finding_columns[column], row);
}

AldFindingListRow ald_event_row(const AldFindingEvent *event, uint64_t now_usec)
{
        return (AldFindingListRow){ .finding = event->row,
                .times = &event->times,
                .format_time = ald_event_time,
                .now_usec = now_usec };
}

void ald_event_text_append(GString *out, const AldFindingListRow *row, const char *lasting, unsigned columns)
{
        g_autofree char *began = column_text(ALD_FINDING_COLUMN_BEGAN, row);
        g_autofree char *ended = lasting && row->times->ended_usec == ALD_ABSENT_UINT64
                                         ? g_strdup(lasting)
                                         : column_text(ALD_FINDING_COLUMN_ENDED, row);
        g_autofree char *lasted = column_text(ALD_FINDING_COLUMN_LASTED, row);
        g_autofree char *finding = format_finding(row->finding);
        g_autofree char *line = format_line(began, ended, lasted, finding);
        g_autofree char *words = ald_finding_words_with_times(row->finding, row->format_time);

        ald_text_wrap(out, line, columns, INDENT);
        g_string_append_c(out, '\n');
        if (!words)
                return;
        g_string_append_printf(out, "%*s", (int) INDENT, "");
        ald_text_wrap(out, words, columns, INDENT);
        g_string_append_c(out, '\n');
}
