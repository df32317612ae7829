/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/link-probe/rdma-wish.h"
#include "state/candidates.h"
#include "state/record.h"

static int choose_address(const AldProbeTarget *wanted, const AldNetwork *own, const AldNetwork *peer,
        const AldResults *results, AldProbeTarget *ret)
{
        g_autoptr(GArray) paths = own && peer ? ald_candidates_compute(own, peer) : NULL;
        const AldCandidate *chosen = NULL;

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
                return -ENXIO;
        return ald_probe_target_set(
                ret, wanted->peer, chosen->address, chosen->interface ? chosen->interface->id : NULL);
}

/* Why one that is named cannot be used is for the probe to tell. */
static bool is_wanted(const AldRdmaPort *port, const char *wanted)
{
        if (*wanted)
                return g_str_equal(port->id, wanted);
        return g_strcmp0(port->state, "active") == 0 && port->gids && port->gids[0];
}

static GPtrArray *ports_of(const AldFabric *fabric, const char *wanted)
{
        GPtrArray *ports = g_ptr_array_new();

        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                if (is_wanted(port, wanted))
                        g_ptr_array_add(ports, (gpointer) port);
        }
        return ports;
}

/* One of the peer's that this one can reach, if it is on the same fabric; each in turn. */
static const AldRdmaPort *partner_of(const AldRdmaPort *port, const GPtrArray *theirs, unsigned turn)
{
        for (unsigned i = 0; i < theirs->len; i++) {
                const AldRdmaPort *other = theirs->pdata[(turn + i) % theirs->len];

                if (g_strcmp0(other->link_layer, port->link_layer) == 0)
                        return other;
        }
        return NULL;
}

int ald_rdma_wish_resolve(const AldProbeTarget *wanted, const AldRdmaWishEnd *own, const AldRdmaWishEnd *peer,
        const AldResults *results, GArray *targets)
{
        g_autoptr(GPtrArray) ours = ports_of(own->fabric, wanted->source_port);
        g_autoptr(GPtrArray) theirs = ports_of(peer->fabric, wanted->sink_port);
        AldProbeTarget target;
        int r;

        if (ours->len == 0 || theirs->len == 0)
                return -ENODEV;
        r = choose_address(wanted, own->network, peer->network, results, &target);
        if (r < 0)
                return r;
        for (unsigned i = 0; i < ours->len && targets->len < ALD_RDMA_WISH_TARGETS_MAX; i++) {
                const AldRdmaPort *port = ours->pdata[i], *partner = partner_of(port, theirs, i);

                if (partner && ald_probe_target_set_ports(&target, port->id, partner->id) >= 0)
                        g_array_append_val(targets, target);
        }
        return targets->len > 0 ? 0 : -ENODEV;
}
