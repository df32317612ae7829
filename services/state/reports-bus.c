/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record-bus.h"
#include "services/common/service.h"
#include "services/state/records-bus.h"
#include "services/state/reports-bus.h"
#include "state/clock.h"
#include "state/findings.h"
#include "state/topology.h"

/* What a row takes at the most, for the limit of a reply. */
#define WIRE_PER_EDGE 320u
#define WIRE_PER_FINDING 256u

static int append_edge(sd_bus_message *message, const AldEdge *edge)
{
        char source[ALD_ID_STRING_SIZE], sink[ALD_ID_STRING_SIZE], prober[ALD_ID_STRING_SIZE];
        const AldEdgeRow row = {
                .source = ald_id_format(&edge->source, source),
                .sink = ald_id_format(&edge->sink, sink),
                .path = ald_path_to_string(edge->path),
                .prober = ald_id_format(&edge->prober, prober),
                .bits_per_second = edge->bits_per_second,
                .rtt_p50_nsec = edge->rtt_p50_nsec,
                .measured_usec = edge->measured_usec,
        };

        return ald_record_bus_append_struct(message, &ald_edge_row_struct, &row);
}

int ald_reports_bus_append_topology(sd_bus_message *message, AldStore *store, size_t *ret_bytes)
{
        g_autoptr(GArray) edges = ald_topology_compute(store, ald_realtime_usec());
        int r;

        if ((size_t) edges->len * WIRE_PER_EDGE > ALD_REPLY_MAX)
                return -E2BIG;
        *ret_bytes = (size_t) edges->len * WIRE_PER_EDGE;
        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        for (guint i = 0; r >= 0 && i < edges->len; i++)
                r = append_edge(message, &g_array_index(edges, AldEdge, i));
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static size_t wire_size(const AldFinding *finding)
{
        return WIRE_PER_FINDING + strlen(finding->text) + (finding->remedy ? strlen(finding->remedy) : 0) +
               40 * g_strv_length(finding->nodes);
}

static int append_finding(sd_bus_message *message, const AldFinding *finding)
{
        const AldFindingRow row = {
                .id = finding->id,
                .severity = ald_severity_to_string(finding->severity),
                .nodes = (const char *const *) finding->nodes,
                .text = finding->text,
                .remedy = finding->remedy,
        };

        return ald_record_bus_append_struct(message, &ald_finding_row_struct, &row);
}

int ald_reports_bus_append_findings(sd_bus_message *message, AldStore *store, size_t *ret_bytes)
{
        uint64_t real = ald_realtime_usec();
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, real, ald_clock_is_set(real));
        size_t bytes = 0;
        int r;

        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        for (guint i = 0; r >= 0 && i < findings->len; i++) {
                bytes += wire_size(findings->pdata[i]);
                r = bytes > ALD_REPLY_MAX ? -E2BIG : append_finding(message, findings->pdata[i]);
        }
        *ret_bytes = bytes;
        return r < 0 ? r : sd_bus_message_close_container(message);
}
