/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record-bus.h"
#include "services/common/service.h"
#include "services/state/records-bus.h"
#include "services/state/reports-bus.h"
#include "state/findings/findings.h"
#include "state/store/clock.h"
#include "state/topology/topology.h"

/* What a row, a field beside its name and text, and a string in a list beside its text take at most, for the
 * limit of a reply. */
#define WIRE_PER_EDGE 320u
#define WIRE_PER_ROW 8u
#define WIRE_PER_FIELD 40u
#define WIRE_PER_STRING 8u

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
        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        for (guint i = 0; r >= 0 && i < edges->len; i++)
                r = append_edge(message, &g_array_index(edges, AldEdge, i));
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r < 0)
                return r;
        *ret_bytes = (size_t) edges->len * WIRE_PER_EDGE;
        return 0;
}

static size_t strv_wire_size(const char *const *strv)
{
        size_t size = 0;

        for (; strv && *strv; strv++)
                size += WIRE_PER_STRING + strlen(*strv);
        return size;
}

/* An upper bound of what the row takes in a message. */
static size_t wire_size(const AldFindingRow *row)
{
        size_t size = WIRE_PER_ROW;

        for (size_t i = 0; i < ald_finding_row_struct.n_fields; i++) {
                const AldField *field = &ald_finding_row_struct.fields[i];
                const void *value = ald_field_of(field, row);

                if (ald_field_is_absent(field, value))
                        continue;
                size += WIRE_PER_FIELD + strlen(field->name);
                if (field->type == ALD_TYPE_STRING)
                        size += strlen(*(const char *const *) value);
                else if (field->type == ALD_TYPE_STRV)
                        size += strv_wire_size(*(const char *const *const *) value);
        }
        return size;
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
                r = bytes > ALD_REPLY_MAX ? -E2BIG
                                          : ald_record_bus_append_struct(
                                                    message, &ald_finding_row_struct, findings->pdata[i]);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r < 0)
                return r;
        *ret_bytes = bytes;
        return 0;
}
