/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record-key.h"
#include "state/link/interface-roles.h"
#include "state/link/link-quality.h"
#include "state/link/link-ttl.h"
#include "state/link/link.h"
#include "state/link/path-due.h"
#include "state/link/path-end.h"
#include "state/link/probe-policy.h"
#include "state/topology/graph-device.h"
#include "state/topology/graph-path.h"
#include "state/topology/rdma-problem.h"

static const AldInterface *find_interface(const AldNode *node, const char *name)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        return network && name ? ald_rows_find(&network->interfaces, name) : NULL;
}

static const AldRdmaPort *find_rdma_port(const AldNode *node, const char *name)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);

        return fabric && name ? ald_rows_find(&fabric->rdma_ports, name) : NULL;
}

static const AldLinkSocket *socket_of(const AldGraphPath *path)
{
        return path->kind == ALD_EDGE_ROW_KIND_SOCKET && path->entry
                       ? ald_record_as(path->entry->record, LINK_SOCKET, AldLinkSocket)
                       : NULL;
}

static const AldLinkRdma *rdma_of(const AldGraphPath *path)
{
        return path->kind == ALD_EDGE_ROW_KIND_RDMA && path->entry
                       ? ald_record_as(path->entry->record, LINK_RDMA, AldLinkRdma)
                       : NULL;
}

void ald_graph_space_clear(AldGraphSpace *space)
{
        g_clear_pointer(&space->reason, g_free);
}

AldGraphNodeRowPresence ald_graph_presence_of(const AldNode *node)
{
        const AldPresence *presence = ald_node_as(node, PRESENCE, AldPresence);
        int state = presence ? ald_graph_node_row_presence_from_string(presence->state) : -1;

        if (node && node->local)
                return ALD_GRAPH_NODE_ROW_PRESENCE_ONLINE;
        return state < 0 ? ALD_GRAPH_NODE_ROW_PRESENCE_UNKNOWN : (AldGraphNodeRowPresence) state;
}

void ald_graph_path_clear(AldGraphPath *path)
{
        for (unsigned i = 0; i < 2; i++) {
                g_free(path->known_ports[i]);
                g_free(path->ends[i].port);
        }
}

static void set_port(AldGraphPathEnd *end, const char *port)
{
        if (g_strcmp0(end->port, port) == 0)
                return;
        g_free(end->port);
        end->port = g_strdup(port);
}

/* Computes an end at an interface. Its type is the present one or, as long as the node does not report the
 * interface, the one at the last measurement. */
static void compute_interface(AldGraphPathEnd *end, const AldNode *node, const char *name,
        const AldInterface *other, const char *measured_type, uint64_t measured_generation)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);
        const AldInterface *interface = find_interface(node, name);
        AldPathEnd found = ALD_PATH_END_NONE;
        int type;

        /* Another interface carries the path now if that of the measurement cannot be used. */
        if (other && other->carrier != 0 && (!interface || interface->carrier == 0))
                interface = other;
        if (interface)
                found = ald_path_end_of(network, ald_node_as(node, FABRIC, AldFabric), interface, NULL, NULL);
        set_port(end, interface ? interface->id : name);
        end->type = found.type;
        end->generation = found.generation;
        end->bits_per_second = found.bits_per_second;
        type = found.type ? -1 : ald_interface_type_from_string(measured_type);
        if (type >= 0)
                end->type = ald_interface_type_to_string((AldInterfaceType) type);
        if (end->generation == ALD_ABSENT_UINT64 && g_strcmp0(end->type, measured_type) == 0)
                end->generation = measured_generation;
}

static void compute_socket(AldGraphPath *path, const AldNode *source, const AldNode *sink)
{
        const AldLinkSocket *row = socket_of(path);
        const char *address = ald_key_address(path->key);
        const AldNetwork *network = ald_node_as(sink, NETWORK, AldNetwork);

        compute_interface(&path->ends[0], source,
                row && row->source_interface ? row->source_interface : path->known_ports[0],
                find_interface(source, path->known_ports[0]), row ? row->source_interface_type : NULL,
                row ? row->source_interface_generation : ALD_ABSENT_UINT64);
        compute_interface(&path->ends[1], sink,
                row && row->sink_interface ? row->sink_interface : path->known_ports[1],
                network ? ald_network_find_address(network, address) : NULL,
                row ? row->sink_interface_type : NULL,
                row ? row->sink_interface_generation : ALD_ABSENT_UINT64);
}

/* Takes the ports from a key such as "DEV.PORT,SINKID,DEV.PORT". */
static void compute_ports(AldGraphPath *path)
{
        const char *comma = strchr(path->key, ',');
        g_autofree char *port = g_strndup(path->key, (gsize) (comma - path->key));

        set_port(&path->ends[0], port);
        set_port(&path->ends[1], strchr(comma + 1, ',') + 1);
        for (unsigned i = 0; i < 2; i++) {
                path->ends[i].type = NULL;
                path->ends[i].generation = path->ends[i].bits_per_second = ALD_ABSENT_UINT64;
        }
}

static void compute_rdma_end(AldGraphPathEnd *end, const AldNode *node)
{
        const AldRdmaPort *port = find_rdma_port(node, end->port);
        const AldInterface *interface = port ? find_interface(node, port->interface) : NULL;

        if (port)
                end->bits_per_second = port->rate_bits_per_second;
        if (interface)
                end->type = ald_path_end_of(
                        ald_node_as(node, NETWORK, AldNetwork), NULL, interface, NULL, NULL)
                                    .type;
        else if (port && g_strcmp0(port->link_layer, ald_rdma_port_link_layer_to_string(
                                                             ALD_RDMA_PORT_LINK_LAYER_INFINIBAND)) == 0)
                end->type = ald_interface_type_to_string(ALD_INTERFACE_TYPE_INFINIBAND);
}

static void compute_thunderbolt_end(AldGraphPathEnd *end, const AldNode *node)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        const AldThunderboltPort *port = fabric ? ald_rows_find(&fabric->thunderbolt_ports, end->port) : NULL;

        end->type = ald_interface_type_to_string(ALD_INTERFACE_TYPE_THUNDERBOLT);
        if (!port)
                return;
        end->generation = port->generation;
        end->bits_per_second = port->speed_bits_per_second;
}

static void compute_lldp_end(AldGraphPathEnd *end, const AldNode *node)
{
        const AldInterface *interface = find_interface(node, end->port);
        AldPathEnd found;

        if (!interface)
                return;
        found = ald_path_end_of(ald_node_as(node, NETWORK, AldNetwork), ald_node_as(node, FABRIC, AldFabric),
                interface, NULL, NULL);
        end->type = found.type;
        end->generation = found.generation;
        end->bits_per_second = found.bits_per_second;
}

static void compute_devices(AldGraphPath *path)
{
        for (unsigned i = 0; i < 2; i++) {
                set_port(&path->ends[i], path->known_ports[i]);
                path->ends[i].type = ald_device_join_kind_to_string(path->join);
                path->ends[i].generation = path->ends[i].bits_per_second = ALD_ABSENT_UINT64;
        }
}

static void compute_ends(AldGraphPath *path, const AldNode *const *nodes)
{
        if (path->kind == ALD_EDGE_ROW_KIND_DEVICE) {
                compute_devices(path);
                return;
        }
        if (path->kind == ALD_EDGE_ROW_KIND_SOCKET) {
                compute_socket(path, nodes[0], nodes[1]);
                return;
        }
        compute_ports(path);
        for (unsigned i = 0; i < 2; i++)
                if (path->kind == ALD_EDGE_ROW_KIND_RDMA)
                        compute_rdma_end(&path->ends[i], nodes[i]);
                else if (path->kind == ALD_EDGE_ROW_KIND_THUNDERBOLT)
                        compute_thunderbolt_end(&path->ends[i], nodes[i]);
                else
                        compute_lldp_end(&path->ends[i], nodes[i]);
}

/* Returns why an interface cannot be used; NULL if it can, or if its node does not report interfaces. */
static const char *interface_problem(const AldNode *node, const char *name)
{
        const AldInterface *interface = find_interface(node, name);

        if (!ald_node_as(node, NETWORK, AldNetwork) || !name)
                return NULL;
        if (!interface)
                return "no-interface";
        return interface->carrier == 0 ? "no-carrier" : NULL;
}

static const char *rdma_problem(const AldNode *node, const char *name)
{
        const AldRdmaPort *port = find_rdma_port(node, name);
        AldRdmaProblem problem;

        if (!ald_node_as(node, FABRIC, AldFabric))
                return NULL;
        if (!port)
                return "no-port";
        return ald_rdma_problem_find_reported(ald_node_as(node, NETWORK, AldNetwork), port, &problem)
                       ? problem.word
                       : NULL;
}

/* After a change of the route, nodes of earlier versions kept the rates and the interface over which they had
 * been measured. */
static bool has_outdated_interface(const AldGraphPath *path)
{
        const AldLinkSocket *socket = socket_of(path);

        return socket && socket->upload.bits_per_second != ALD_ABSENT_UINT64 &&
               g_strcmp0(socket->changed, ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ROUTE)) ==
                       0;
}

static const char *end_problem(const AldGraphPath *path, unsigned end, const AldNode *node)
{
        if (path->kind == ALD_EDGE_ROW_KIND_RDMA)
                return rdma_problem(node, path->ends[end].port);
        if (path->kind == ALD_EDGE_ROW_KIND_THUNDERBOLT || path->kind == ALD_EDGE_ROW_KIND_DEVICE)
                return NULL;
        if (path->kind == ALD_EDGE_ROW_KIND_SOCKET && end == 1 && ald_node_as(node, NETWORK, AldNetwork) &&
                !ald_network_find_address(ald_node_as(node, NETWORK, AldNetwork), ald_key_address(path->key)))
                return "no-address";
        if (end == 0 && has_outdated_interface(path))
                return NULL;
        return interface_problem(node, path->ends[end].port);
}

static bool is_probed(const AldGraphPath *path)
{
        return path->kind == ALD_EDGE_ROW_KIND_SOCKET || path->kind == ALD_EDGE_ROW_KIND_RDMA;
}

static bool policy_allows(const AldGraphPath *path, const AldNode *node)
{
        return ald_probe_policy_allows(node,
                path->kind == ALD_EDGE_ROW_KIND_RDMA ? ALD_LINK_SCOPE_FULL : ALD_LINK_SCOPE_ROUND_TRIPS);
}

static bool policy_starts(const AldGraphPath *path, const AldNode *node)
{
        return ald_probe_policy_starts(
                node, path->kind == ALD_EDGE_ROW_KIND_RDMA ? ALD_KIND_LINK_RDMA : ALD_KIND_LINK_SOCKET);
}

/* Finds the problem of a path. Returns whether it makes the path unusable; a path that is merely not probed
 * still works. */
static bool find_problem(AldGraphPath *path, const AldNode *const *nodes)
{
        path->problem = NULL;
        for (unsigned i = 0; i < 2 && !path->problem; i++) {
                path->problem = nodes[i] ? end_problem(path, i, nodes[i]) : NULL;
                path->problem_end = i;
        }
        if (path->problem)
                return true;
        if (!is_probed(path))
                return false;
        for (unsigned i = 0; i < 2 && !path->problem; i++)
                if (nodes[i] && !policy_allows(path, nodes[i])) {
                        path->problem = "policy";
                        path->problem_end = i;
                }
        if (!path->problem && nodes[0] && !policy_starts(path, nodes[0])) {
                path->problem = "policy";
                path->problem_end = 0;
        }
        return false;
}

/* Returns whether there is any figure of the path. */
static bool is_measured(const AldGraphPath *path, const AldNode *source)
{
        AldLink link;

        if (path->kind == ALD_EDGE_ROW_KIND_DEVICE)
                return ald_device_join_is_measured(source, path->key);
        if (!is_probed(path))
                return true;
        if (!path->entry)
                return false;
        link = ald_link_of_record(path->entry->record);
        return ald_link_has_rate(link.directions) || link.rtt_p50_nsec != ALD_ABSENT_UINT64;
}

static bool any_has_presence(const AldNode *const *nodes, AldGraphNodeRowPresence presence)
{
        return ald_graph_presence_of(nodes[0]) == presence || ald_graph_presence_of(nodes[1]) == presence;
}

static AldEdgeRowPresence presence_of(const AldGraphPath *path, const AldNode *const *nodes, bool unusable)
{
        if (any_has_presence(nodes, ALD_GRAPH_NODE_ROW_PRESENCE_OFFLINE) ||
                any_has_presence(nodes, ALD_GRAPH_NODE_ROW_PRESENCE_DUPLICATE) || unusable)
                return ALD_EDGE_ROW_PRESENCE_OFFLINE;
        if (any_has_presence(nodes, ALD_GRAPH_NODE_ROW_PRESENCE_UNKNOWN))
                return ALD_EDGE_ROW_PRESENCE_UNKNOWN;
        if (any_has_presence(nodes, ALD_GRAPH_NODE_ROW_PRESENCE_STALE))
                return ALD_EDGE_ROW_PRESENCE_STALE;
        if (is_measured(path, nodes[0]) && (is_probed(path) || !path->candidate))
                return ALD_EDGE_ROW_PRESENCE_LIVE;
        return path->known && path->candidate ? ALD_EDGE_ROW_PRESENCE_CANDIDATE
                                              : ALD_EDGE_ROW_PRESENCE_UNMEASURED;
}

/* Describes the problem. The ends are called source and sink as in the edge, since names of nodes may change.
 * */
static char *reason_of(const AldGraphPath *path, AldStore *store, bool reverse, const char **ret_remedy)
{
        const AldNode *node = ald_store_find_node(
                store, path->problem_end == 0 ? &path->source : &path->sink);
        const char *at = (path->problem_end == 0) != reverse ? "source" : "sink";
        const char *port = path->ends[path->problem_end].port;
        const AldRdmaPort *rdma_port = find_rdma_port(node, port);
        g_autofree char *why = NULL;
        AldRdmaProblem problem;

        if (g_str_equal(path->problem, "no-carrier")) {
                *ret_remedy = "Plug in its cable, or switch on the device at the other end.";
                return g_strdup_printf("%s at the %s has no carrier", port, at);
        }
        if (g_str_equal(path->problem, "no-interface") || g_str_equal(path->problem, "no-port"))
                return g_strdup_printf("the %s no longer has %s", at, port);
        if (g_str_equal(path->problem, "no-address"))
                return g_strdup_printf("the %s does not have the address %s", at, ald_key_address(path->key));
        if (g_str_equal(path->problem, "policy")) {
                const char *reason = node ? ald_probe_policy_reason(node) : NULL;

                if (!node || policy_allows(path, node))
                        return g_strdup_printf("the %s starts no such probes", at);
                return g_strdup_printf(
                        "the %s allows no such probes%s%s", at, reason ? ": " : "", reason ?: "");
        }
        if (!rdma_port ||
                !ald_rdma_problem_find_reported(ald_node_as(node, NETWORK, AldNetwork), rdma_port, &problem))
                return NULL;
        *ret_remedy = ald_rdma_problem_remedy(&problem);
        why = ald_rdma_problem_reason(&problem);
        return why ? g_strdup_printf("%s at the %s cannot be used: %s", port, at, why) : NULL;
}

static AldAttempts attempts_of(const AldGraphPath *path)
{
        const AldLinkSocket *socket = socket_of(path);
        const AldLinkRdma *rdma = rdma_of(path);

        if (rdma)
                return (AldAttempts){ rdma->measured_usec, rdma->failed_usec, rdma->failures, false };
        return ald_path_attempts(socket);
}

/* Round trips of sockets are measured more often than rates. */
static uint64_t expiry_of(const AldGraphPath *path, uint64_t seed)
{
        const AldLinkSocket *socket = socket_of(path);
        const AldLinkRdma *rdma = rdma_of(path);
        uint64_t checked;

        if (rdma)
                return rdma->measured_usec + (rdma->time_to_live_usec == ALD_ABSENT_UINT64
                                                             ? ald_kind_ttl(ALD_KIND_LINK_RDMA)
                                                             : rdma->time_to_live_usec);
        checked = socket->rtt_measured_usec == ALD_ABSENT_UINT64 ? socket->measured_usec
                                                                 : socket->rtt_measured_usec;
        return ald_link_check_due(checked, seed);
}

/* Returns the seed in the form that the planner uses. */
static uint64_t seed_of(const AldGraphPath *path)
{
        g_autofree char *ports = NULL;

        if (path->kind == ALD_EDGE_ROW_KIND_SOCKET)
                return ald_path_seed(&path->source, &path->sink, ald_key_address(path->key));
        ports = g_strdup_printf("%s,%s", path->ends[0].port, path->ends[1].port);
        return ald_path_seed(&path->source, &path->sink, ports);
}

static bool is_other_port(const AldGraphPathEnd *end, const char *interface)
{
        return interface && end->port && !g_str_equal(interface, end->port);
}

bool ald_graph_path_has_moved(const AldGraphPath *path)
{
        const AldLinkSocket *socket = socket_of(path);

        return socket && (is_other_port(&path->ends[0], socket->source_interface) ||
                                 is_other_port(&path->ends[1], socket->sink_interface));
}

static void compute_due(AldGraphPath *path)
{
        const AldLinkSocket *socket = socket_of(path);
        AldAttempts attempts = attempts_of(path);
        uint64_t seed;
        AldPathState state;

        path->due_reason = NULL;
        path->due_usec = ALD_ABSENT_UINT64;
        /* A path that a search does not find is probed from the other end, or no longer. */
        if (!is_probed(path) || (path->searched && !path->known) || path->problem ||
                path->presence == ALD_EDGE_ROW_PRESENCE_OFFLINE ||
                path->presence == ALD_EDGE_ROW_PRESENCE_UNKNOWN)
                return;
        seed = seed_of(path);
        if (socket && attempts.measured_usec == ALD_ABSENT_UINT64)
                attempts.measured_usec = socket->rtt_measured_usec;
        attempts.routed = path->routed;
        state = ald_attempts_state(&attempts, seed, 0, UINT64_MAX);
        if (state.reason == ALD_DUE_EXPIRED && socket &&
                (socket->changed || is_other_port(&path->ends[0], socket->source_interface)))
                state.reason = ALD_DUE_CHANGED;
        path->due_reason = ald_due_reason_to_string(state.reason);
        if (state.reason == ALD_DUE_FAILED)
                path->due_usec = state.since;
        else if (state.reason == ALD_DUE_EXPIRED)
                path->due_usec = expiry_of(path, seed);
}

static const char *transport_of(const AldGraphPath *path, const AldNode *const *nodes)
{
        const AldLinkRdma *rdma = rdma_of(path);
        int transport = rdma ? ald_link_rdma_transport_from_string(rdma->transport) : -1;

        if (path->kind != ALD_EDGE_ROW_KIND_RDMA)
                return NULL;
        return transport >= 0 ? ald_link_rdma_transport_to_string((AldLinkRdmaTransport) transport)
                              : ald_path_rdma_transport(find_rdma_port(nodes[0], path->ends[0].port),
                                        find_rdma_port(nodes[1], path->ends[1].port));
}

void ald_graph_path_compute(AldGraphPath *path, AldStore *store)
{
        const AldNode *const nodes[2] = { ald_store_find_node(store, &path->source),
                ald_store_find_node(store, &path->sink) };

        compute_ends(path, nodes);
        path->transport = transport_of(path, nodes);
        path->presence = presence_of(path, nodes, find_problem(path, nodes));
        compute_due(path);
}

static void describe_socket(const AldGraphPath *path, bool reverse, AldEdgeRow *row)
{
        const AldLinkSocket *socket = socket_of(path);

        *(reverse ? &row->source_address : &row->sink_address) = ald_key_address(path->key);
        if (!socket)
                return;
        row->rtt_p50_nsec = socket->rtt_p50_nsec;
        row->jitter_nsec = socket->jitter_nsec;
        row->measured_usec = socket->measured_usec;
        row->time_to_live_usec = socket->time_to_live_usec;
        row->rtt_measured_usec = socket->rtt_measured_usec == socket->measured_usec
                                         ? ALD_ABSENT_UINT64
                                         : socket->rtt_measured_usec;
        row->failure = socket->failure;
        row->failed_usec = socket->failed_usec;
        if (ald_graph_path_has_moved(path)) {
                row->changed = ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ROUTE);
                return;
        }
        row->bits_per_second = socket->directions[reverse].bits_per_second;
        row->interval = socket->directions[reverse].interval;
        row->limiter = socket->directions[reverse].limiter;
        row->negotiated_bits_per_second = socket->negotiated_bits_per_second;
        row->flags = socket->flags;
        row->changed = socket->changed;
}

static void describe_rdma(const AldGraphPath *path, bool reverse, AldEdgeRow *row)
{
        const AldLinkRdma *rdma = rdma_of(path);

        row->transport = path->transport;
        if (!rdma)
                return;
        row->bits_per_second = rdma->directions[reverse].bits_per_second;
        row->interval = rdma->directions[reverse].interval;
        row->rtt_p50_nsec = rdma->rtt_p50_nsec;
        row->jitter_nsec = rdma->jitter_nsec;
        row->negotiated_bits_per_second = rdma->negotiated_bits_per_second;
        row->measured_usec = rdma->measured_usec;
        row->time_to_live_usec = rdma->time_to_live_usec;
        row->flags = rdma->flags;
        row->failure = rdma->failure;
        row->failed_usec = rdma->failed_usec;
}

/* Returns the speed of the record, but no more than the sink has now; without a record, that of both ends. */
static uint64_t negotiated_of(const AldGraphPath *path, uint64_t measured)
{
        const AldLinkSocket *socket = socket_of(path);
        uint64_t sink = path->ends[1].bits_per_second;

        if (measured == ALD_ABSENT_UINT64)
                return ald_path_speed(path->ends[0].bits_per_second, sink);
        return socket && socket->sink_interface_type ? measured : ald_path_speed(measured, sink);
}

void ald_graph_path_describe(
        const AldGraphPath *path, AldStore *store, bool reverse, AldGraphSpace *space, AldEdgeRow *ret)
{
        const AldGraphPathEnd *from = &path->ends[reverse ? 1 : 0], *to = &path->ends[reverse ? 0 : 1];

        *ret = *(const AldEdgeRow *) ald_edge_row_struct.absent;
        ald_graph_space_clear(space);
        ret->kind = ald_edge_row_kind_to_string(path->kind);
        ret->source = ald_id_format(reverse ? &path->sink : &path->source, space->source);
        ret->sink = ald_id_format(reverse ? &path->source : &path->sink, space->sink);
        ret->source_port = from->port;
        ret->source_type = from->type;
        ret->source_generation = from->generation;
        ret->sink_port = to->port;
        ret->sink_type = to->type;
        ret->sink_generation = to->generation;
        ret->presence = ald_edge_row_presence_to_string(path->presence);
        if (path->kind == ALD_EDGE_ROW_KIND_SOCKET)
                describe_socket(path, reverse, ret);
        else if (path->kind == ALD_EDGE_ROW_KIND_RDMA)
                describe_rdma(path, reverse, ret);
        if (is_probed(path))
                ret->prober = reverse ? ret->sink : ret->source;
        if (path->kind == ALD_EDGE_ROW_KIND_DEVICE)
                ald_device_join_describe(ald_store_find_node(store, &path->source), path->key, reverse, ret);
        else
                ret->negotiated_bits_per_second = negotiated_of(path, ret->negotiated_bits_per_second);
        ret->due_reason = path->due_reason;
        ret->due_usec = path->due_usec;
        ret->problem = path->problem;
        if (path->problem)
                ret->reason = space->reason = reason_of(path, store, reverse, &ret->remedy);
}
