/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/key.h"
#include "state/planner/planner-private.h"
#include "state/topology/rdma-problem.h"
#include "state/topology/segments.h"

/* The ports of one node in a segment, in the order of their names. */
typedef struct Ports {
        const AldNode *node;
        const char *names[ALD_RDMA_PORTS_MAX];
        size_t n;
} Ports;

/* Where the control connection leads; empty if no path does. */
typedef struct Control {
        char address[ALD_ADDRESS_STRING_SIZE];
        const char *interface; /* where it must be given */
} Control;

typedef struct RdmaPlanner {
        AldPlanner *planner;
        const AldFabric *own;
        GHashTable *
                controls; /* each peer that may be measured (const AldNode) → Control, NULL until asked for */
        GHashTable *joined; /* "PEER PORT" of a port of ours or theirs that surely has a neighbour there */
        GHashTable *interfaces; /* name of a port of ours → AldInterface */
} RdmaPlanner;

static const AldNetwork *network_of(const AldNode *node)
{
        return ald_record_as(ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);
}

static const AldFabric *fabric_of(const AldNode *node)
{
        return ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
}

static const AldLinkRdma *find_rdma_row(
        AldStore *store, const AldId *source, const char *port, const AldId *sink, const char *sink_port)
{
        char key[ALD_KEY_MAX + 1], id[ALD_ID_STRING_SIZE];
        const AldEntry *entry;

        if (g_snprintf(key, sizeof key, "%s,%s,%s", port, ald_id_format(sink, id), sink_port) >
                (int) ALD_KEY_MAX)
                return NULL;
        entry = ald_store_find(store, source, ALD_KIND_LINK_RDMA, key);
        return entry ? ald_record_as(entry->record, LINK_RDMA, AldLinkRdma) : NULL;
}

static AldAttempts attempts_of(const AldLinkRdma *row)
{
        return row ? (AldAttempts){ row->measured_usec, row->failed_usec, row->failures } : ALD_ATTEMPTS_NONE;
}

/* Ranks paths for the control connection: working ones before untried ones, and these before failing ones;
 * then by speed. */
static int rank_of(const AldLinkSocket *row)
{
        if (!row)
                return 1;
        return ald_path_failures(row) > 0 ? 0 : 2;
}

static bool is_better(const AldLinkSocket *row, const AldLinkSocket *best)
{
        if (rank_of(row) != rank_of(best) || rank_of(row) != 2)
                return rank_of(row) > rank_of(best);
        return row->upload_bits_per_second != ALD_ABSENT_UINT64 &&
               (best->upload_bits_per_second == ALD_ABSENT_UINT64 ||
                       row->upload_bits_per_second > best->upload_bits_per_second);
}

static Control *choose_control(const AldPlanner *planner, const AldNode *peer)
{
        const AldNetwork *network = network_of(peer);
        g_autoptr(GArray) candidates = network ? ald_candidates_compute(planner->own, network) : NULL;
        const AldLinkSocket *best = NULL;
        Control *control = g_new0(Control, 1);

        for (guint i = 0; candidates && i < candidates->len; i++) {
                const AldCandidate *candidate = &g_array_index(candidates, AldCandidate, i);
                const AldLinkSocket *row = ald_path_find_row(
                        planner->store, &planner->node->id, &peer->id, candidate->address);

                if (*control->address && !is_better(row, best))
                        continue;
                best = row;
                g_strlcpy(control->address, candidate->address, sizeof control->address);
                control->interface = candidate->link_local ? ald_candidate_choose(candidate, row)->id : NULL;
        }
        return control;
}

/* The same for all ports of a peer. False if no path leads there. */
static bool find_control(RdmaPlanner *rdma, const AldNode *peer, AldDueProbe *probe)
{
        Control *control = g_hash_table_lookup(rdma->controls, peer);

        if (!control) {
                control = choose_control(rdma->planner, peer);
                g_hash_table_insert(rdma->controls, (gpointer) peer, control);
        }
        memcpy(probe->address, control->address, sizeof probe->address);
        probe->interface = control->interface;
        return *control->address;
}

/* The interface that the port uses; a placeholder for the port if it has none. */
static const AldInterface *interface_of(RdmaPlanner *rdma, const AldRdmaPort *port)
{
        const AldInterface *known = port->interface ? ald_rows_find(&rdma->planner->own->interfaces,
                                                              port->interface)
                                                    : NULL;
        AldInterface *placeholder;

        if (!known)
                known = g_hash_table_lookup(rdma->interfaces, port->id);
        if (known)
                return known;
        placeholder = g_new(AldInterface, 1);
        *placeholder = (AldInterface) ALD_INTERFACE_INIT;
        placeholder->id = port->interface ?: port->id;
        placeholder->speed_bits_per_second = port->rate_bits_per_second;
        g_ptr_array_add(rdma->planner->placeholders, placeholder);
        g_hash_table_insert(rdma->interfaces, (gpointer) port->id, placeholder);
        return placeholder;
}

static bool is_deferred(const RdmaPlanner *rdma, const AldNode *peer, const char *own, const char *theirs)
{
        char id[ALD_ID_STRING_SIZE];
        g_autofree char *key = g_strdup_printf("%s,%s,%s", own, ald_id_format(&peer->id, id), theirs);

        return g_hash_table_contains(rdma->planner->deferred, key);
}

/* Of two nodes the one with the lower id measures, unless it cannot. */
static bool is_ours(const RdmaPlanner *rdma, const AldNode *peer, const char *own, const char *theirs)
{
        const AldPlanner *planner = rdma->planner;
        const AldAttempts attempts = attempts_of(
                find_rdma_row(planner->store, &peer->id, theirs, &planner->node->id, own));

        return ald_id_compare(&planner->node->id, &peer->id) < 0 ||
               !ald_probe_policy_starts(peer, ALD_KIND_LINK_RDMA) ||
               ald_attempts_failures(&attempts) >= ALD_FAILURES_GIVE_UP;
}

static void consider_pair(RdmaPlanner *rdma, const AldNode *peer, const char *own, const char *theirs)
{
        AldPlanner *planner = rdma->planner;
        const AldRdmaPort *port = ald_rows_find(&rdma->own->rdma_ports, own);
        const AldRdmaPort *other = ald_rows_find(&fabric_of(peer)->rdma_ports, theirs);
        const AldLinkRdma *row = find_rdma_row(planner->store, &planner->node->id, own, &peer->id, theirs);
        const AldAttempts attempts = attempts_of(row);
        g_autofree char *path = g_strdup_printf("%s,%s", own, theirs);
        AldDue due = { .rank = ALD_RANK_RDMA, .deadline = ALD_ABSENT_UINT64 };
        AldPathState state;

        if (!is_ours(rdma, peer, own, theirs) || is_deferred(rdma, peer, own, theirs) ||
                !ald_probe_policy_allows(planner->node, ALD_LINK_SCOPE_FULL) ||
                !ald_probe_policy_allows(peer, ALD_LINK_SCOPE_FULL))
                return;
        due.seed = ald_path_seed(&planner->node->id, &peer->id, path);
        state = ald_attempts_state(&attempts, due.seed,
                row && row->time_to_live_usec != ALD_ABSENT_UINT64 ? row->time_to_live_usec
                                                                   : ald_planner_ttl(ALD_KIND_LINK_RDMA),
                planner->input->now_realtime);
        due.probe = (AldDueProbe){
                .kind = ALD_KIND_LINK_RDMA,
                .peer = peer->id,
                .source_port = port->id,
                .sink_port = other->id,
                .reason = state.reason,
                .since = state.since,
        };
        if (!state.due || !find_control(rdma, peer, &due.probe))
                return;
        due.interface = interface_of(rdma, port);
        due.measured_usec = attempts.measured_usec;
        due.waits_since = state.since;
        due.bytes = ald_rdma_probe_bytes(row, MIN(port->rate_bits_per_second, other->rate_bits_per_second));
        g_array_append_val(planner->due, due);
}

/* Joins "PEER PORT" twice: our port with that peer, and the peer's with us. */
static char *joined_name(const AldNode *peer, const AldNode *owner, const char *port)
{
        char id[ALD_ID_STRING_SIZE];

        return g_strdup_printf("%s %c %s", ald_id_format(&peer->id, id), owner == peer ? 't' : 'o', port);
}

static bool is_joined(const RdmaPlanner *rdma, const AldNode *peer, const AldNode *owner, const char *port)
{
        g_autofree char *name = joined_name(peer, owner, port);

        return g_hash_table_contains(rdma->joined, name);
}

static void consider_ports(RdmaPlanner *rdma, const Ports *ours, const Ports *theirs)
{
        size_t n = MAX(ours->n, theirs->n);

        for (size_t i = 0; i < n && ours->n > 0 && theirs->n > 0; i++)
                consider_pair(rdma, theirs->node, ours->names[i % ours->n], theirs->names[i % theirs->n]);
}

static void note_joined(RdmaPlanner *rdma, const AldNode *peer, const Ports *ports)
{
        for (size_t i = 0; i < ports->n; i++)
                g_hash_table_add(rdma->joined, joined_name(peer, ports->node, ports->names[i]));
}

static Ports without_joined(const RdmaPlanner *rdma, const AldNode *peer, const Ports *ports)
{
        Ports left = { .node = ports->node };

        for (size_t i = 0; i < ports->n; i++)
                if (!is_joined(rdma, peer, ports->node, ports->names[i]))
                        left.names[left.n++] = ports->names[i];
        return left;
}

static void consider_peer(RdmaPlanner *rdma, bool candidate, const Ports *ours, const Ports *theirs)
{
        const AldNode *peer = theirs->node;
        Ports own_left, their_left;

        if (candidate) {
                own_left = without_joined(rdma, peer, ours);
                their_left = without_joined(rdma, peer, theirs);
                consider_ports(rdma, &own_left, &their_left);
                return;
        }
        note_joined(rdma, peer, ours);
        note_joined(rdma, peer, theirs);
        consider_ports(rdma, ours, theirs);
}

static bool is_usable(const AldSegmentMember *member)
{
        return ald_rdma_port_is_usable(
                network_of(member->node), ald_rows_find(&fabric_of(member->node)->rdma_ports, member->port));
}

/* The members of one node that can be used, from `first` on, which is moved beyond them. */
static Ports next_ports(const AldSegment *segment, guint *first)
{
        Ports ports = { .node = g_array_index(segment->members, AldSegmentMember, *first).node };

        for (; *first < segment->members->len; ++*first) {
                const AldSegmentMember *member = &g_array_index(segment->members, AldSegmentMember, *first);

                if (member->node != ports.node)
                        break;
                if (ports.n < G_N_ELEMENTS(ports.names) && is_usable(member))
                        ports.names[ports.n++] = member->port;
        }
        return ports;
}

static bool find_own_ports(const RdmaPlanner *rdma, const AldSegment *segment, Ports *ret)
{
        for (guint i = 0; i < segment->members->len;) {
                Ports ports = next_ports(segment, &i);

                if (ports.node == rdma->planner->node) {
                        *ret = ports;
                        return true;
                }
        }
        return false;
}

static void consider_segment(RdmaPlanner *rdma, const AldSegment *segment)
{
        Ports ours;

        if (segment->how < ALD_SEGMENT_INFINIBAND || !find_own_ports(rdma, segment, &ours))
                return;
        for (guint i = 0; i < segment->members->len;) {
                Ports theirs = next_ports(segment, &i);

                if (g_hash_table_contains(rdma->controls, theirs.node))
                        consider_peer(rdma, segment->candidate, &ours, &theirs);
        }
}

static bool has_usable_port(const AldPlanner *planner, const AldFabric *fabric)
{
        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++)
                if (ald_rdma_port_is_usable(planner->own, ald_rows_at(&fabric->rdma_ports, i)))
                        return true;
        return false;
}

/* For all peers of the period, so that peers that are avoided for a moment do not change the pairs. */
static GPtrArray *find_segments(const AldPlanner *planner)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_copy(planner->sample, NULL, NULL);

        g_ptr_array_add(nodes, planner->node);
        return ald_segments_compute_among(planner->store, nodes);
}

void ald_planner_rdma(AldPlanner *planner)
{
        g_autoptr(GHashTable) controls = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        g_autoptr(GHashTable) joined = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) interfaces = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) segments = NULL;
        RdmaPlanner rdma = {
                .planner = planner,
                .own = fabric_of(planner->node),
                .controls = controls,
                .joined = joined,
                .interfaces = interfaces,
        };

        if (!has_usable_port(planner, rdma.own))
                return;
        for (guint i = 0; i < planner->peers->len; i++)
                g_hash_table_insert(controls, planner->peers->pdata[i], NULL);
        segments = find_segments(planner);
        for (unsigned candidate = 0; candidate < 2; candidate++)
                for (guint i = 0; i < segments->len; i++) {
                        const AldSegment *segment = segments->pdata[i];

                        if (segment->candidate == candidate)
                                consider_segment(&rdma, segment);
                }
}
