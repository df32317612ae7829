/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/record-source.h"
#include "state/findings/findings-report.h"

/* Finds services that do not do their work: the history service of this node if it cannot write, and services
 * of any node that no longer send anything, so that what is shown of it is out of date. The latter are only
 * services that every node needs; one that was stopped properly has the same effect as one that hangs. */

/* Returns the newest entry of a source, or NULL. */
static const AldEntry *newest_entry(const AldNode *node, const AldRecordSource *source)
{
        const AldEntry *newest = NULL;

        for (unsigned i = 0; i < source->n_kinds; i++) {
                const AldEntry *entry = &node->entries[source->kinds[i]];

                if (entry->record && (!newest || entry->changed > newest->changed))
                        newest = entry;
        }
        return newest;
}

/* Returns whether a source is silent. For another node this shows only by what else it sends: this machine
 * may not subscribe to everything, but then it receives nothing of these sources at all. */
static bool is_silent(const AldReport *report, const AldNode *node, const AldEntry *newest)
{
        const uint64_t now = node->local ? report->context.now : node->heard;
        const uint64_t last = newest ? newest->changed : report->context.started;

        return (newest || node->local) && now > last && now - last > ALD_RECORD_SOURCE_SILENT_USEC;
}

static void find_in_source(AldReport *report, const AldNode *node, const AldRecordSource *source)
{
        const AldEntry *newest = newest_entry(node, source);
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (source->optional || !is_silent(report, node, newest) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_SERVICE_SILENT,
                        NULL, &node->id, 1))
                return;
        row.service = source->unit;
        /* The time is in the future if the clock was set meanwhile. */
        if (newest && newest->updated_usec <= report->context.real)
                row.since_usec = newest->updated_usec;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_SERVICE_SILENT, NULL,
                &node->id, 1, &row);
}

static gboolean find_in_node(AldNode *node, void *userdata)
{
        if (ald_node_counts(node))
                for (AldRecordSourceId id = 0; id < ALD_N_RECORD_SOURCES; id++)
                        find_in_source(userdata, node, &ald_record_sources[id]);
        return FALSE;
}

static void find_history_problem(AldReport *report, const AldNode *local)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!report->context.history_problem ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                        ALD_FINDING_ROW_ID_HISTORY_NOT_WRITTEN, NULL, &local->id, 1))
                return;
        row.reason = report->context.history_problem;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_HISTORY_NOT_WRITTEN, NULL,
                &local->id, 1, &row);
}

void ald_find_in_services(AldReport *report)
{
        find_history_problem(report, ald_store_local_node(report->store));
        ald_store_foreach_node(report->store, find_in_node, report);
}
