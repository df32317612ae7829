/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/finding-columns.h"
#include "clients/common/finding-history.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"

GArray *ald_finding_list_rows(
        AldModel *model, const char *node_id, const GPtrArray *silences, AldFindingTime format_time)
{
        g_autoptr(GPtrArray) findings = ald_findings_sorted(model, node_id);
        GArray *rows = g_array_sized_new(FALSE, FALSE, sizeof(AldFindingListRow), findings->len);

        for (guint i = 0; i < findings->len; i++) {
                AldFindingListRow row = { .model = model,
                        .finding = findings->pdata[i],
                        .silence = ald_silence_rows_find(silences, findings->pdata[i]),
                        .format_time = format_time };

                g_array_append_val(rows, row);
        }
        return rows;
}

static const AldFindingRow *finding_of(const void *row)
{
        return ((const AldFindingListRow *) row)->finding;
}

/* These columns say what was found. */

static char *id_text(const void *row)
{
        return ald_text_safe_or_null(finding_of(row)->id);
}

static char *severity_text(const void *row)
{
        AldTone tone;

        return ald_finding_severity(finding_of(row), &tone);
}

static char *severity_plain(const void *row)
{
        return ald_text_safe_or_null(finding_of(row)->severity);
}

/* The worst come first. */
static double severity_number(const void *row)
{
        return ald_finding_severity_of(finding_of(row));
}

static AldTone severity_tone(const void *row)
{
        return ald_severity_tone(ald_finding_severity_of(finding_of(row)));
}

static char *nodes_text(const void *row)
{
        const AldFindingListRow *listed = row;

        return ald_finding_node_names(listed->finding, listed->model);
}

static char *words_text(const void *row)
{
        const AldFindingListRow *listed = row;

        return listed->format_time ? ald_finding_words_with_times(listed->finding, listed->format_time)
                                   : ald_finding_words(listed->finding);
}

static char *words_plain(const void *row)
{
        return ald_finding_words(finding_of(row));
}

static char *remedy_text(const void *row)
{
        return ald_finding_remedy_words(finding_of(row));
}

static char *reporter_plain(const void *row)
{
        return ald_text_safe_or_null(finding_of(row)->reporter);
}

static char *reporter_text(const void *row)
{
        const AldFindingListRow *listed = row;

        return listed->model ? ald_node_name(listed->model, listed->finding->reporter) : reporter_plain(row);
}

static double left_out_number(const void *row)
{
        return ald_uint64_to_double(finding_of(row)->left_out);
}

/* These columns say when a finding began and ended, and how long it is silenced. */

static char *format_time(const AldFindingListRow *row, uint64_t usec)
{
        if (usec == ALD_ABSENT_UINT64)
                return NULL;
        return row->format_time ? row->format_time(usec)
                                : ald_format_figure(&ald_unit_microseconds_since_1970, (double) usec);
}

static char *began_text(const void *row)
{
        const AldFindingListRow *listed = row;

        return listed->times ? format_time(listed, listed->times->began_usec) : NULL;
}

static double began_number(const void *row)
{
        const AldFindingListRow *listed = row;

        return listed->times ? ald_uint64_to_double(listed->times->began_usec) : (double) ALD_ABSENT_DOUBLE;
}

static char *ended_text(const void *row)
{
        const AldFindingListRow *listed = row;
        char *time = listed->times ? format_time(listed, listed->times->ended_usec) : NULL;

        return listed->times && !time ? g_strdup(_("lasts")) : time;
}

static double ended_number(const void *row)
{
        const AldFindingListRow *listed = row;

        return listed->times ? ald_uint64_to_double(listed->times->ended_usec) : (double) ALD_ABSENT_DOUBLE;
}

/* Returns how long the finding lasted, or has lasted so far. A clock that was set back does not make it
 * negative. */
static double lasted_number(const void *row)
{
        const AldFindingListRow *listed = row;
        uint64_t end;

        if (!listed->times || listed->times->began_usec == ALD_ABSENT_UINT64)
                return ALD_ABSENT_DOUBLE;
        end = listed->times->ended_usec == ALD_ABSENT_UINT64 ? listed->now_usec : listed->times->ended_usec;
        return (double) (end - MIN(end, listed->times->began_usec));
}

static char *silenced_text(const void *row)
{
        const AldFindingListRow *listed = row;
        g_autofree char *until = listed->silence ? format_time(listed, listed->silence->until_usec) : NULL;

        if (!listed->silence)
                return NULL;
        return until ? g_strdup_printf(_("until %s"), until) : g_strdup(_("until stopped"));
}

static double silenced_number(const void *row)
{
        const AldFindingListRow *listed = row;

        if (!listed->silence)
                return ALD_ABSENT_DOUBLE;
        return listed->silence->until_usec == ALD_ABSENT_UINT64 ? (double) INFINITY
                                                                : (double) listed->silence->until_usec;
}

const AldListColumn ald_finding_columns[ALD_FINDING_N_COLUMNS] = {
        [ALD_FINDING_COLUMN_ID] = { .id = "id",
                .key = "Id",
                .heading = "FINDING",
                .title = N_("Finding"),
                .description = N_("The name of the finding, which scripts can rely on"),
                .least = 8,
                .text = id_text },
        [ALD_FINDING_COLUMN_SEVERITY] = { .id = "severity",
                .key = "Severity",
                .heading = "SEVERITY",
                .title = N_("Severity"),
                .description = N_("How severe it is: an error, a warning or a notice"),
                .least = 8,
                .priority = 1,
                .text = severity_text,
                .plain = severity_plain,
                .number = severity_number,
                .tone = severity_tone },
        [ALD_FINDING_COLUMN_NODES] = { .id = "nodes",
                .key = "Names",
                .heading = "NODES",
                .title = N_("Nodes"),
                .description = N_("The names of the nodes that it is about"),
                .flexible = true,
                .least = 12,
                .priority = 2,
                .text = nodes_text },
        [ALD_FINDING_COLUMN_TEXT] = { .id = "text",
                .key = "Text",
                .heading = "TEXT",
                .title = N_("Description"),
                .description = N_("A sentence that describes what is wrong"),
                .flexible = true,
                .least = 20,
                .text = words_text,
                .plain = words_plain },
        [ALD_FINDING_COLUMN_REMEDY] = { .id = "remedy",
                .key = "Remedy",
                .heading = "REMEDY",
                .title = N_("Remedy"),
                .description = N_("What to do about it, if that is known"),
                .flexible = true,
                .least = 20,
                .priority = 7,
                .text = remedy_text },
        [ALD_FINDING_COLUMN_BEGAN] = { .id = "began",
                .key = "BeganUSec",
                .heading = "BEGAN",
                .title = N_("Began"),
                .description = N_("When it began, as the history has it"),
                .is_number = true,
                .least = 19,
                .priority = 3,
                .text = began_text,
                .number = began_number },
        [ALD_FINDING_COLUMN_ENDED] = { .id = "ended",
                .key = "EndedUSec",
                .heading = "ENDED",
                .title = N_("Ended"),
                .description = N_("When it ended, as the history has it"),
                .is_number = true,
                .least = 19,
                .priority = 4,
                .text = ended_text,
                .number = ended_number },
        [ALD_FINDING_COLUMN_LASTED] = { .id = "lasted",
                .key = "LastedUSec",
                .heading = "LASTED",
                .title = N_("Lasted"),
                .description = N_("How long it lasted, or has lasted so far"),
                .is_number = true,
                .least = 11,
                .priority = 5,
                .number = lasted_number },
        [ALD_FINDING_COLUMN_SILENCED] = { .id = "silenced",
                .key = "SilencedUntilUSec",
                .heading = "SILENCED",
                .title = N_("Silenced"),
                .description = N_(
                        "Until when there are no notices about it; in JSON and CSV, \"infinity\" is "
                        "until stopped"),
                .is_number = true,
                .least = 8,
                .priority = 6,
                .text = silenced_text,
                .number = silenced_number },
        [ALD_FINDING_COLUMN_REPORTER] = { .id = "reporter",
                .key = "Reporter",
                .heading = "REPORTER",
                .title = N_("Reporter"),
                .description = N_("The node whose record shows it; in JSON and CSV, its id"),
                .flexible = true,
                .least = 12,
                .priority = 8,
                .text = reporter_text,
                .plain = reporter_plain },
        [ALD_FINDING_COLUMN_LEFT_OUT] = { .id = "left-out",
                .key = "LeftOut",
                .heading = "LEFT OUT",
                .title = N_("Left Out"),
                .description = N_("The number of findings that this one stands for, if they are left out"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = left_out_number },
};

const AldColumnList ald_finding_column_list = {
        .name = "findings", .columns = ald_finding_columns, .n_columns = ALD_FINDING_N_COLUMNS
};
