/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-report.h"
#include "state/link/link-quality.h"
#include "state/link/link.h"
#include "state/link/path-end.h"
#include "state/results/link-result.h"

/* Finds links whose rates have changed a short while ago: estimated as soon as spot checks show it, then
 * measured. */

typedef struct RateChange {
        struct {
                uint64_t before, now;
        } directions[2];
        uint64_t since_usec;
        uint64_t measured_usec; /* absent: estimated */
} RateChange;

static bool any_has_changed(const RateChange *change)
{
        for (size_t i = 0; i < G_N_ELEMENTS(change->directions); i++)
                if (ald_link_rate_has_changed(change->directions[i].before, change->directions[i].now))
                        return true;
        return false;
}

static bool find_estimated_change(const AldLinkSocket *row, RateChange *ret)
{
        /* An unreliable rate does not show how far another one is from it. */
        if (g_strcmp0(row->changed, ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_RATE)) != 0 ||
                ald_link_is_doubtful(row) || ald_link_has_flag(row->flags, ALD_LINK_DISTURBED))
                return false;
        *ret = (RateChange){ .since_usec = row->changed_usec, .measured_usec = ALD_ABSENT_UINT64 };
        for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++) {
                const AldLinkDirection *direction = &row->directions[i];

                ret->directions[i].before = direction->bits_per_second;
                ret->directions[i].now = ald_link_estimate(direction->bits_per_second,
                        direction->spot_bits_per_second, direction->last_spot_bits_per_second);
        }
        return any_has_changed(ret);
}

static bool find_measured_change(const AldLinkSocket *row, uint64_t now, RateChange *ret)
{
        if (row->rate_changed_usec == ALD_ABSENT_UINT64 ||
                (row->rate_changed_usec < now && now - row->rate_changed_usec >= ALD_LINK_CHANGE_SHOWN_USEC))
                return false;
        *ret = (RateChange){ .since_usec = row->rate_changed_usec, .measured_usec = row->measured_usec };
        for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++) {
                ret->directions[i].before = row->directions[i].before_bits_per_second;
                ret->directions[i].now = row->directions[i].bits_per_second;
        }
        return any_has_changed(ret);
}

/* Returns how many times faster or slower a direction has become; 1 if unknown. */
static double factor_of(const RateChange *change, unsigned direction)
{
        uint64_t before = change->directions[direction].before, now = change->directions[direction].now;

        if (!ald_link_rate_has_changed(before, now))
                return 1;
        return (double) MAX(before, now) / (double) MAX(MIN(before, now), 1);
}

static AldFindingRow row_of(const AldLinkSocket *link, const RateChange *change)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        unsigned most = factor_of(change, 0) >= factor_of(change, 1) ? 0 : 1;

        row.interface = link->source_interface;
        row.address = link->sink_address;
        row.interface_type = ald_path_type(link->source_interface_type, link->sink_interface_type);
        row.since_usec = change->since_usec;
        row.measured_usec = change->measured_usec;
        row.past_bits_per_second = change->directions[most].before;
        row.directions[most].bits_per_second = change->directions[most].now;
        return row;
}

static void find_in_link(AldReport *report, const AldLink *ends, const AldLinkSocket *link)
{
        const AldFindingRowSeverity severity = ALD_FINDING_ROW_SEVERITY_NOTICE;
        const AldFindingRowId id = ALD_FINDING_ROW_ID_LINK_RATE_CHANGED;
        const AldId nodes[2] = { ends->source, ends->sink };
        AldFindingRow row;
        RateChange change;

        if (!find_estimated_change(link, &change) &&
                !find_measured_change(link, report->context.real, &change))
                return;
        if (ald_report_full(report, severity, id, &ends->source, nodes, G_N_ELEMENTS(nodes)))
                return;
        row = row_of(link, &change);
        ald_report_add(report, severity, id, &ends->source, nodes, G_N_ELEMENTS(nodes), &row);
}

static gboolean find_in_entry(AldEntry *entry, void *userdata)
{
        AldReport *report = userdata;
        const AldLink ends = ald_link_of(entry);
        const AldNode *sink = ald_store_find_node(report->store, &ends.sink);

        if (entry->kind == ALD_KIND_LINK_SOCKET && ald_node_counts(entry->node) && sink &&
                ald_node_counts(sink))
                find_in_link(report, &ends, ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket));
        return FALSE;
}

void ald_find_changed_rates(AldReport *report)
{
        ald_store_foreach_link(report->store, find_in_entry, report);
}
