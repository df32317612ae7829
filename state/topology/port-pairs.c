/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/topology/port-pairs.h"
#include "state/topology/rdma-problem.h"

/* The ports of one node in a segment, in the order of their names. */
typedef struct Ports {
        const AldNode *node;
        const char *names[ALD_RDMA_PORTS_MAX];
        size_t n;
} Ports;

typedef struct Pairing {
        const AldNode *node;
        GHashTable *joined; /* joined_name() of the ports of the node and its peers that certainly have a
                               neighbour there */
        AldPortPairFunc func;
        void *userdata;
} Pairing;

/* Returns a key for a port that has a neighbour: of the node at that peer, or of the peer at the node. */
static char *joined_name(const AldNode *peer, const AldNode *owner, const char *port)
{
        char id[ALD_ID_STRING_SIZE];

        return g_strdup_printf("%s %c %s", ald_id_format(&peer->id, id), owner == peer ? 't' : 'o', port);
}

static void add_joined_ports(Pairing *pairing, const AldNode *peer, const Ports *ports)
{
        for (size_t i = 0; i < ports->n; i++)
                g_hash_table_add(pairing->joined, joined_name(peer, ports->node, ports->names[i]));
}

static Ports without_joined(const Pairing *pairing, const AldNode *peer, const Ports *ports)
{
        Ports left = { .node = ports->node };

        for (size_t i = 0; i < ports->n; i++) {
                g_autofree char *name = joined_name(peer, ports->node, ports->names[i]);

                if (!g_hash_table_contains(pairing->joined, name))
                        left.names[left.n++] = ports->names[i];
        }
        return left;
}

static void pair_ports(Pairing *pairing, bool candidate, const Ports *ours, const Ports *theirs)
{
        size_t n = MAX(ours->n, theirs->n);

        for (size_t i = 0; i < n && ours->n > 0 && theirs->n > 0; i++) {
                const AldPortPair pair = { theirs->node, ours->names[i % ours->n],
                        theirs->names[i % theirs->n], candidate };

                pairing->func(&pair, pairing->userdata);
        }
}

static void pair_with_peer(Pairing *pairing, bool candidate, const Ports *ours, const Ports *theirs)
{
        const AldNode *peer = theirs->node;
        Ports own_left, their_left;

        if (candidate) {
                own_left = without_joined(pairing, peer, ours);
                their_left = without_joined(pairing, peer, theirs);
                pair_ports(pairing, true, &own_left, &their_left);
                return;
        }
        add_joined_ports(pairing, peer, ours);
        add_joined_ports(pairing, peer, theirs);
        pair_ports(pairing, false, ours, theirs);
}

static bool is_usable(const AldSegmentMember *member)
{
        const AldNetwork *network = ald_node_as(member->node, NETWORK, AldNetwork);
        const AldFabric *fabric = ald_node_as(member->node, FABRIC, AldFabric);

        return ald_rdma_port_is_usable(network, ald_rows_find(&fabric->rdma_ports, member->port));
}

/* Returns the usable members of one node, from `first` on, which is moved beyond them. */
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

static bool find_own_ports(const Pairing *pairing, const AldSegment *segment, Ports *ret)
{
        for (guint i = 0; i < segment->members->len;) {
                Ports ports = next_ports(segment, &i);

                if (ports.node == pairing->node) {
                        *ret = ports;
                        return true;
                }
        }
        return false;
}

static void pair_segment(Pairing *pairing, const AldSegment *segment)
{
        Ports ours;

        if (segment->how < ALD_SEGMENT_INFINIBAND || !find_own_ports(pairing, segment, &ours))
                return;
        for (guint i = 0; i < segment->members->len;) {
                Ports theirs = next_ports(segment, &i);

                if (theirs.node != pairing->node)
                        pair_with_peer(pairing, segment->candidate, &ours, &theirs);
        }
}

void ald_port_pairs_foreach(
        const GPtrArray *segments, const AldNode *node, AldPortPairFunc func, void *userdata)
{
        g_autoptr(GHashTable) joined = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Pairing pairing = { node, joined, func, userdata };

        for (unsigned candidate = 0; candidate < 2; candidate++)
                for (guint i = 0; i < segments->len; i++) {
                        const AldSegment *segment = segments->pdata[i];

                        if (segment->candidate == candidate)
                                pair_segment(&pairing, segment);
                }
}
