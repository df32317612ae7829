/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/rdma-wish.h"
#include "services/link-probe/wish.h"
#include "state/candidates.h"
#include "state/network.h"

struct AldWishes {
        AldWishParts parts;
        GPtrArray *list; /* of Waiting */
        bool complained; /* that the state service does not report the segments */
};

/* A pending request. */
typedef struct Waiting {
        AldWishes *all;
        AldWish wish;
        AldNodeRecords own, peer;
        AldWishAnswer answered;
        void *userdata;
} Waiting;

static void waiting_free(gpointer data)
{
        Waiting *waiting = data;

        ald_node_records_clear(&waiting->own);
        ald_node_records_clear(&waiting->peer);
        g_free(waiting);
}

AldWishes *ald_wishes_new(const AldWishParts *parts)
{
        AldWishes *wishes = g_new0(AldWishes, 1);

        wishes->parts = *parts;
        wishes->list = g_ptr_array_new_with_free_func(waiting_free);
        return wishes;
}

void ald_wishes_free(AldWishes *wishes)
{
        if (!wishes)
                return;
        for (unsigned i = 0; i < wishes->list->len; i++) {
                const Waiting *waiting = wishes->list->pdata[i];

                waiting->answered(-ECANCELED, NULL, waiting->userdata);
        }
        g_ptr_array_unref(wishes->list);
        g_free(wishes);
}

static int add_paths(const AldWish *wish, const AldNetwork *own, const AldNetwork *peer,
        const AldResults *results, GArray *targets)
{
        g_autoptr(GArray) paths = own ? ald_candidates_compute(own, peer) : NULL;
        AldProbeTarget target;

        for (unsigned i = 0; paths && i < paths->len; i++) {
                const AldCandidate *path = &g_array_index(paths, AldCandidate, i);
                const AldInterface *interface = ald_results_choose(results, wish->target.peer, path);

                if (ald_probe_target_set(
                            &target, wish->target.peer, path->address, interface ? interface->id : NULL) < 0)
                        continue;
                target.rtt_only = wish->target.rtt_only;
                g_array_append_val(targets, target);
        }
        return targets->len > 0 ? 0 : -ENXIO;
}

int ald_wish_resolve(const AldWish *wish, const AldNetwork *own, const AldNetwork *peer,
        const AldResults *results, GArray *targets)
{
        if (!peer)
                return -ENXIO;
        if (*wish->target.address == '\0')
                return add_paths(wish, own, peer, results, targets);
        if (!ald_network_find_address(peer, wish->target.address))
                return -ENXIO;
        g_array_append_val(targets, wish->target);
        return 0;
}

static int resolve(const Waiting *waiting, const AldNeighbours *neighbours, GArray *targets)
{
        const AldWishParts *parts = &waiting->all->parts;
        const AldRdmaWishEnd own = {
                parts->own_id,
                ald_record_as(waiting->own.network, NETWORK, AldNetwork),
                ald_record_as(waiting->own.fabric, FABRIC, AldFabric),
        };
        const AldRdmaWishEnd peer = {
                waiting->wish.target.peer,
                ald_record_as(waiting->peer.network, NETWORK, AldNetwork),
                ald_record_as(waiting->peer.fabric, FABRIC, AldFabric),
        };

        if (waiting->wish.target.transport == ALD_TRANSPORT_RDMA)
                return ald_rdma_wish_resolve(
                        &waiting->wish.target, &own, &peer, neighbours, parts->results, targets);
        return ald_wish_resolve(&waiting->wish, own.network, peer.network, parts->results, targets);
}

static void finish(Waiting *waiting, int error, const AldNeighbours *neighbours)
{
        const AldWishParts *parts = &waiting->all->parts;
        AldJobs *jobs = ald_link_jobs_all(parts->jobs);
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldProbeTarget));
        AldJob *job = NULL;
        int r = error;

        if (r >= 0)
                r = parts->allowed(waiting->wish.target.transport, parts->userdata);
        if (r >= 0)
                r = resolve(waiting, neighbours, targets);
        if (r >= 0)
                r = ald_jobs_room(jobs, waiting->wish.uid);
        if (r >= 0)
                job = ald_link_jobs_add(parts->jobs, waiting->wish.uid, g_steal_pointer(&targets));
        waiting->answered(r, job, waiting->userdata);
        g_ptr_array_remove_fast(waiting->all->list, waiting);
        if (job)
                ald_jobs_step(jobs);
}

/* Without an answer there are no neighbours, and any ports are paired. */
static void on_segments(int error, const AldRows *segments, void *userdata)
{
        const Waiting *waiting = userdata;
        AldWishes *wishes = waiting->all;
        g_autoptr(AldNeighbours) neighbours = ald_neighbours_between(
                segments, waiting->wish.target.peer, wishes->parts.own_id);

        if (error < 0 && !wishes->complained)
                g_warning("Cannot read from the state service which RDMA ports are neighbours: %s",
                        g_strerror(-error));
        wishes->complained = error < 0;
        finish(userdata, 0, neighbours);
}

static void on_peer(int error, const AldNodeRecords *records, void *userdata)
{
        Waiting *waiting = userdata;
        const AldWishParts *parts = &waiting->all->parts;
        int r = error;

        if (r >= 0) {
                waiting->peer = ald_node_records_ref(records);
                if (waiting->wish.target.transport == ALD_TRANSPORT_SOCKET)
                        finish(waiting, 0, NULL);
                else
                        r = ald_state_query_segments(
                                parts->nodes, waiting->wish.target.peer, on_segments, waiting);
        }
        if (r < 0)
                finish(waiting, r, NULL);
}

/* Our own interfaces are not known yet if the service has just begun. */
static void on_own(int error, const AldNodeRecords *records, void *userdata)
{
        Waiting *waiting = userdata;
        int r = error;

        if (r >= 0) {
                waiting->own = ald_node_records_ref(records);
                r = ald_state_query_node(
                        waiting->all->parts.nodes, waiting->wish.target.peer, on_peer, waiting);
        }
        /* That this machine is not known is not what the caller asked about. */
        if (r < 0)
                on_peer(r == -ENOENT ? -ENODATA : r, NULL, waiting);
}

int ald_wishes_add(
        AldWishes *wishes, const AldWish *wish, AldRecord *own, AldWishAnswer answered, void *userdata)
{
        const AldWishParts *parts = &wishes->parts;
        const AldNodeRecords records = { .network = own };
        /* The ports of this machine must be requested in any case. */
        bool known = own && wish->target.transport == ALD_TRANSPORT_SOCKET;
        Waiting *waiting;
        int r = parts->allowed(wish->target.transport, parts->userdata);

        if (r >= 0)
                r = ald_jobs_room(ald_link_jobs_all(parts->jobs), wish->uid);
        if (r < 0)
                return r;
        if (g_str_equal(wish->target.peer, parts->own_id))
                return -EINVAL;
        waiting = g_new(Waiting, 1);
        *waiting = (Waiting){
                .all = wishes,
                .wish = *wish,
                .own = known ? ald_node_records_ref(&records) : (AldNodeRecords){ 0 },
                .answered = answered,
                .userdata = userdata,
        };
        r = known ? ald_state_query_node(parts->nodes, wish->target.peer, on_peer, waiting)
                  : ald_state_query_node(parts->nodes, parts->own_id, on_own, waiting);
        if (r < 0) {
                waiting_free(waiting);
                return r;
        }
        g_ptr_array_add(wishes->list, waiting);
        return 0;
}
