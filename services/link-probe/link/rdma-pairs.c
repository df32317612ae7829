/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "record/record.h"
#include "record/schema.h"
#include "services/common/errors.h"
#include "services/link-probe/link/rdma-pairs.h"
#include "state/link/path-candidates.h"
#include "state/topology/rdma-problem.h"

struct AldNeighbours {
        unsigned n;             /* number of segments */
        GHashTable *segment[2]; /* "NODE PORT" → number of its segment, from 1; segments, then candidates */
};

AldNeighbours *ald_neighbours_new(void)
{
        AldNeighbours *neighbours = g_new0(AldNeighbours, 1);

        for (unsigned i = 0; i < 2; i++)
                neighbours->segment[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return neighbours;
}

void ald_neighbours_free(AldNeighbours *neighbours)
{
        if (!neighbours)
                return;
        for (unsigned i = 0; i < 2; i++)
                g_hash_table_unref(neighbours->segment[i]);
        g_free(neighbours);
}

void ald_neighbours_add(AldNeighbours *neighbours, const char *const *members, unsigned n, bool candidate)
{
        neighbours->n++;
        for (unsigned i = 0; i < n; i++)
                g_hash_table_replace(neighbours->segment[candidate], g_strdup(members[i]),
                        GUINT_TO_POINTER(neighbours->n));
}

static bool is_port_of(const char *member, const char *node)
{
        return g_str_has_prefix(member, node) && member[strlen(node)] == ' ';
}

AldNeighbours *ald_neighbours_between(const AldRows *segments, const char *node, const char *other)
{
        AldNeighbours *neighbours = ald_neighbours_new();

        for (size_t i = 0; i < segments->n; i++) {
                const AldSegmentRow *segment = ald_rows_at(segments, i);
                g_autoptr(GPtrArray) kept = g_ptr_array_new();

                for (const char *const *member = segment->members; member && *member; member++)
                        if (is_port_of(*member, node) || is_port_of(*member, other))
                                g_ptr_array_add(kept, (gpointer) *member);
                ald_neighbours_add(
                        neighbours, (const char *const *) kept->pdata, kept->len, segment->candidate == 1);
        }
        return neighbours;
}

static gpointer find_segment(GHashTable *segment, const char *node, const char *port)
{
        g_autofree char *name = g_strdup_printf("%s %s", node, port);

        return g_hash_table_lookup(segment, name);
}

unsigned ald_neighbours_rank(const AldNeighbours *neighbours, const char *node, const char *port,
        const char *other_node, const char *other_port)
{
        for (unsigned i = 0; i < 2; i++) {
                gpointer segment = find_segment(neighbours->segment[i], node, port);

                if (segment && segment == find_segment(neighbours->segment[i], other_node, other_port))
                        return 2 - i;
        }
        return 0;
}

static int choose_address(const AldProbeTarget *wanted, const AldNetwork *own, const AldNetwork *peer,
        const AldResults *results, AldProbeTarget *ret)
{
        g_autoptr(GArray) paths = own && peer ? ald_candidates_compute(own, peer) : NULL;
        const AldCandidate *chosen = NULL;
        const AldInterface *interface;

        for (unsigned i = 0; paths && i < paths->len; i++) {
                const AldCandidate *path = &g_array_index(paths, AldCandidate, i);

                if (!chosen)
                        chosen = path;
                if (ald_results_reached(results, wanted->peer, path->address)) {
                        chosen = path;
                        break;
                }
        }
        if (!chosen)
                return -ALD_E_NO_SUCH_ADDRESS;
        interface = ald_results_choose(results, wanted->peer, chosen);
        return ald_probe_target_set(
                ret, wanted->kind, wanted->peer, chosen->address, interface ? interface->id : NULL);
}

/* A port that may be paired. */
typedef struct PairedPort {
        const AldRdmaPort *port;
        unsigned uses; /* number of pairs that contain it */
} PairedPort;

static GArray *list_eligible_ports(const AldRdmaRequestEnd *end, const char *wanted)
{
        GArray *ports = g_array_new(FALSE, FALSE, sizeof(PairedPort));

        for (size_t i = 0; end->fabric && i < end->fabric->rdma_ports.n; i++) {
                const PairedPort port = { .port = ald_rows_at(&end->fabric->rdma_ports, i) };

                /* If a named port cannot be used, the probe reports why. */
                if (*wanted ? g_str_equal(port.port->id, wanted)
                            : ald_rdma_port_is_usable(end->network, port.port))
                        g_array_append_val(ports, port);
        }
        return ports;
}

/* Chooses one of `theirs` (PairedPort), the ports of the peer, that our port may be able to reach, or
 * NULL. */
static const AldRdmaPort *choose_partner(const AldNeighbours *neighbours, const char *own_id,
        const AldRdmaPort *port, const char *peer_id, GArray *theirs)
{
        PairedPort *best = NULL;
        unsigned best_rank = 0;

        for (unsigned i = 0; i < theirs->len; i++) {
                PairedPort *other = &g_array_index(theirs, PairedPort, i);
                unsigned rank = ald_neighbours_rank(neighbours, own_id, port->id, peer_id, other->port->id);

                if (g_strcmp0(other->port->link_layer, port->link_layer) != 0 ||
                        (other->port->transport && port->transport &&
                                !g_str_equal(other->port->transport, port->transport)))
                        continue;
                if (!best || rank > best_rank || (rank == best_rank && other->uses < best->uses)) {
                        best = other;
                        best_rank = rank;
                }
        }
        if (best)
                best->uses++;
        return best ? best->port : NULL;
}

int ald_rdma_request_resolve(const AldProbeTarget *wanted, const AldRdmaRequestEnd *own,
        const AldRdmaRequestEnd *peer, const AldNeighbours *neighbours, const AldResults *results,
        GArray *targets)
{
        g_autoptr(GArray) ours = list_eligible_ports(own, wanted->source_port);
        g_autoptr(GArray) theirs = list_eligible_ports(peer, wanted->sink_port);
        AldProbeTarget target;
        int r;

        if (ours->len == 0 || theirs->len == 0)
                return -ALD_E_NO_SUCH_DEVICE;
        r = choose_address(wanted, own->network, peer->network, results, &target);
        if (r < 0)
                return r;
        for (unsigned i = 0; i < ours->len && targets->len < ALD_RDMA_REQUEST_TARGETS_MAX; i++) {
                const AldRdmaPort *port = g_array_index(ours, PairedPort, i).port,
                                  *partner = choose_partner(neighbours, own->id, port, peer->id, theirs);

                if (partner && ald_probe_target_set_ports(&target, port->id, partner->id) >= 0)
                        g_array_append_val(targets, target);
        }
        return targets->len > 0 ? 0 : -ALD_E_NO_SUCH_DEVICE;
}
