/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/errors.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/probe/measure-request.h"

struct AldLinkRequests {
        AldLinkRequestsParts parts;
        GPtrArray *list; /* of Waiting */
        bool warned;     /* that the state service does not report the segments */
};

/* A pending request. */
typedef struct Waiting {
        AldLinkRequests *all;
        AldLinkRequest request;
        AldNodeRecords own, peer;
        AldLinkRequestAnswer answered;
        void *userdata;
} Waiting;

static void waiting_free(gpointer data)
{
        Waiting *waiting = data;

        ald_node_records_clear(&waiting->own);
        ald_node_records_clear(&waiting->peer);
        g_free(waiting);
}

AldLinkRequests *ald_link_requests_new(const AldLinkRequestsParts *parts)
{
        AldLinkRequests *requests = g_new0(AldLinkRequests, 1);

        requests->parts = *parts;
        requests->list = g_ptr_array_new_with_free_func(waiting_free);
        return requests;
}

void ald_link_requests_free(AldLinkRequests *requests)
{
        if (!requests)
                return;
        for (unsigned i = 0; i < requests->list->len; i++) {
                const Waiting *waiting = requests->list->pdata[i];

                waiting->answered(-ECANCELED, NULL, waiting->userdata);
        }
        g_ptr_array_unref(requests->list);
        g_free(requests);
}

static int resolve(const Waiting *waiting, const AldNeighbours *neighbours, GArray *targets)
{
        const AldLinkRequestsParts *parts = &waiting->all->parts;
        const AldProbeTarget *wanted = &waiting->request.target;
        const AldProbeFacts facts = { .own_id = parts->own_id,
                .own = &waiting->own,
                .peer = &waiting->peer,
                .neighbours = neighbours,
                .results = parts->results };

        return wanted->kind->resolve(wanted, &facts, targets);
}

static void finish(Waiting *waiting, int error, const AldNeighbours *neighbours)
{
        const AldLinkRequestsParts *parts = &waiting->all->parts;
        AldJobs *jobs = ald_link_jobs_all(parts->jobs);
        g_autoptr(GArray) targets = ald_probe_targets_new();
        AldJob *job = NULL;
        int r = error;

        if (r >= 0)
                r = parts->allowed(waiting->request.target.kind, parts->userdata);
        if (r >= 0)
                r = resolve(waiting, neighbours, targets);
        if (r >= 0)
                r = ald_jobs_room(jobs, waiting->request.uid);
        if (r >= 0)
                job = ald_link_jobs_add(parts->jobs, waiting->request.uid, g_steal_pointer(&targets));
        waiting->answered(r, job, waiting->userdata);
        g_ptr_array_remove_fast(waiting->all->list, waiting);
        if (job)
                ald_jobs_step(jobs);
}

/* Without an answer there are no neighbours, and any ports are paired. */
static void on_segments(int error, const AldRows *segments, void *userdata)
{
        const Waiting *waiting = userdata;
        AldLinkRequests *requests = waiting->all;
        g_autoptr(AldNeighbours) neighbours = ald_neighbours_between(
                segments, waiting->request.target.peer, requests->parts.own_id);

        if (error < 0 && !requests->warned)
                g_warning("Cannot read from the state service which RDMA ports are neighbours: %s",
                        ald_error_describe(error));
        requests->warned = error < 0;
        finish(userdata, 0, neighbours);
}

static void on_peer(int error, const AldNodeRecords *records, void *userdata)
{
        Waiting *waiting = userdata;
        const AldLinkRequestsParts *parts = &waiting->all->parts;
        int r = error;

        if (r >= 0) {
                waiting->peer = ald_node_records_ref(records);
                if (!ald_probe_kind_is_rdma(waiting->request.target.kind))
                        finish(waiting, 0, NULL);
                else
                        r = ald_state_query_segments(
                                parts->nodes, waiting->request.target.peer, on_segments, waiting);
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
                        waiting->all->parts.nodes, waiting->request.target.peer, on_peer, waiting);
        }
        /* That this machine is not known is not what the caller asked about. */
        if (r < 0)
                on_peer(r == -ALD_E_NO_SUCH_NODE ? -ENODATA : r, NULL, waiting);
}

int ald_link_requests_add(AldLinkRequests *requests, const AldLinkRequest *request, AldRecord *own,
        AldLinkRequestAnswer answered, void *userdata)
{
        const AldLinkRequestsParts *parts = &requests->parts;
        const AldNodeRecords records = { .network = own };
        /* The ports of this machine must be requested in any case. */
        bool known = own && !ald_probe_kind_is_rdma(request->target.kind);
        Waiting *waiting;
        int r = parts->allowed(request->target.kind, parts->userdata);

        if (r >= 0)
                r = ald_jobs_room(ald_link_jobs_all(parts->jobs), request->uid);
        if (r < 0)
                return r;
        if (g_str_equal(request->target.peer, parts->own_id))
                return -ALD_E_OWN_NODE;
        waiting = g_new(Waiting, 1);
        *waiting = (Waiting){
                .all = requests,
                .request = *request,
                .own = known ? ald_node_records_ref(&records) : (AldNodeRecords){ 0 },
                .answered = answered,
                .userdata = userdata,
        };
        r = known ? ald_state_query_node(parts->nodes, request->target.peer, on_peer, waiting)
                  : ald_state_query_node(parts->nodes, parts->own_id, on_own, waiting);
        if (r < 0) {
                waiting_free(waiting);
                return r;
        }
        g_ptr_array_add(requests->list, waiting);
        return 0;
}
