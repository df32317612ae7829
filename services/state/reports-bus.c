/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <systemd/sd-bus.h>

#include "record/record-bus.h"
#include "services/state/records-bus.h"
#include "services/state/reports-bus.h"
#include "state/store/store.h"
#include "state/topology/rdma-problem.h"

/* The maximum size of a row without the strings that are counted. */
#define WIRE_PER_PORT 384u

typedef struct Appending {
        sd_bus_message *message;
        const AldNode *only;
        size_t bytes;
        int error;
} Appending;

static size_t length_of(const char *string)
{
        return string ? strlen(string) : 0;
}

static int append_port(Appending *appending, const AldPortRow *row)
{
        appending->bytes += WIRE_PER_PORT + length_of(row->port) + length_of(row->interface) +
                            length_of(row->link_layer) + length_of(row->transport) + length_of(row->state) +
                            length_of(row->reason) + length_of(row->remedy);
        if (appending->bytes > ALD_REPLY_MAX)
                return -E2BIG;
        return ald_record_bus_append_struct(appending->message, &ald_port_row_struct, row);
}

static int append_rdma_ports(Appending *appending, AldNode *node, const AldFabric *fabric, const char *id)
{
        g_autoptr(GHashTable) failures = ald_rdma_failures(node);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);
                g_autofree char *reason = NULL;
                AldRdmaProblem problem;
                AldPortRow row = { .node = id,
                        .port = port->id,
                        .kind = "rdma",
                        .interface = port->interface,
                        .link_layer = port->link_layer,
                        .transport = port->transport,
                        .state = port->state,
                        .rate_bits_per_second = port->rate_bits_per_second };

                if (ald_rdma_problem_find(node, port, failures, &problem)) {
                        row.problem = problem.word;
                        row.reason = reason = ald_rdma_problem_reason(&problem);
                        row.remedy = ald_rdma_problem_remedy(&problem);
                }
                r = append_port(appending, &row);
        }
        return r;
}

static int append_thunderbolt_ports(Appending *appending, const AldFabric *fabric, const char *id)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < fabric->thunderbolt_ports.n; i++) {
                const AldThunderboltPort *port = ald_rows_at(&fabric->thunderbolt_ports, i);
                const AldPortRow row = { .node = id,
                        .port = port->id,
                        .kind = "thunderbolt",
                        .interface = port->interface,
                        .rate_bits_per_second = port->speed_bits_per_second };

                r = append_port(appending, &row);
        }
        return r;
}

static gboolean append_ports_of(AldNode *node, void *userdata)
{
        Appending *appending = userdata;
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        char id[ALD_ID_STRING_SIZE];

        if (!fabric || !ald_node_counts(node) || (appending->only && appending->only != node))
                return FALSE;
        ald_id_format(&node->id, id);
        appending->error = append_rdma_ports(appending, node, fabric, id);
        if (appending->error >= 0)
                appending->error = append_thunderbolt_ports(appending, fabric, id);
        return appending->error < 0;
}

/* Returns whether a segment has a port of this node; each member is "NODE PORT". Without a node, all segments
 * count. */
static bool concerns_node(const AldSegmentRow *row, const AldNode *only)
{
        char id[ALD_ID_STRING_SIZE];

        if (!only)
                return true;
        ald_id_format(&only->id, id);
        for (const char *const *member = row->members; *member; member++)
                if (g_str_has_prefix(*member, id))
                        return true;
        return false;
}

static int append_segment(Appending *appending, const AldSegmentRow *row)
{
        appending->bytes += ald_struct_wire_size(&ald_segment_row_struct, row);
        return appending->bytes > ALD_REPLY_MAX
                       ? -E2BIG
                       : ald_record_bus_append_struct(appending->message, &ald_segment_row_struct, row);
}

int ald_reports_bus_append_fabric(sd_bus_message *message, AldStore *store, const GPtrArray *segments,
        const AldNode *only, size_t *ret_bytes)
{
        Appending appending = { .message = message, .only = only };
        int r;

        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        if (r < 0)
                return r;
        ald_store_foreach_node(store, append_ports_of, &appending);
        r = appending.error < 0 ? appending.error : sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "a{sv}");
        for (guint i = 0; r >= 0 && i < segments->len; i++)
                if (concerns_node(segments->pdata[i], only))
                        r = append_segment(&appending, segments->pdata[i]);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r < 0)
                return r;
        *ret_bytes = appending.bytes;
        return 0;
}

G_STATIC_ASSERT(ALD_FINDINGS_BYTES_MAX < ALD_REPLY_MAX);

int ald_reports_bus_append_findings(sd_bus_message *message, AldStateManager *manager, size_t *ret_bytes)
{
        g_autoptr(GPtrArray) findings = ald_state_manager_findings(manager);
        size_t bytes = 0;
        int r;

        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        for (guint i = 0; r >= 0 && i < findings->len; i++) {
                bytes += ald_struct_wire_size(&ald_finding_row_struct, findings->pdata[i]);
                r = ald_record_bus_append_struct(message, &ald_finding_row_struct, findings->pdata[i]);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r < 0)
                return r;
        *ret_bytes = bytes;
        return 0;
}
