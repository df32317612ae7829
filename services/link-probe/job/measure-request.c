/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/errors.h"
#include "services/common/service.h"
#include "services/link-probe/job/measure-request.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/local/device-schedule.h"

struct AldMeasureRequests {
        AldMeasureRequestsParts parts;
        AldJobs *jobs;
        GPtrArray *list; /* of PendingRequest */
        bool warned;     /* the warning about missing segments was logged */
};

/* A request that waits for replies of the state service. */
typedef struct PendingRequest {
        AldMeasureRequests *all;
        uid_t uid;
        AldProbeTarget wanted;
        AldNodeRecords own, peer;
        AldMeasureRequestAnswer answered;
        void *userdata;
} PendingRequest;

static void pending_request_free(gpointer data)
{
        PendingRequest *pending = data;

        ald_probe_target_clear(&pending->wanted);
        ald_node_records_clear(&pending->own);
        ald_node_records_clear(&pending->peer);
        g_free(pending);
}

AldMeasureRequests *ald_measure_requests_new(const AldMeasureRequestsParts *parts)
{
        AldMeasureRequests *requests = g_new0(AldMeasureRequests, 1);

        requests->parts = *parts;
        requests->jobs = ald_jobs_new(&parts->jobs);
        requests->list = g_ptr_array_new_with_free_func(pending_request_free);
        return requests;
}

void ald_measure_requests_free(AldMeasureRequests *requests)
{
        if (!requests)
                return;
        for (unsigned i = 0; i < requests->list->len; i++) {
                const PendingRequest *pending = requests->list->pdata[i];

                pending->answered(-ECANCELED, NULL, pending->userdata);
        }
        g_ptr_array_unref(requests->list);
        ald_jobs_free(requests->jobs);
        g_free(requests);
}

AldJobs *ald_measure_requests_jobs(const AldMeasureRequests *requests)
{
        return requests->jobs;
}

static int resolve_targets(const PendingRequest *pending, const AldNeighbours *neighbours, GArray *targets)
{
        const AldMeasureRequestsParts *parts = &pending->all->parts;
        AldDeviceSchedule *schedule = parts->jobs.schedules[pending->wanted.kind->kind];
        const AldProbeFacts facts = { .own_id = parts->jobs.own_id,
                .now_realtime = ald_realtime_usec(),
                .own = &pending->own,
                .peer = &pending->peer,
                .neighbours = neighbours,
                .results = parts->results,
                .schedule = schedule,
                .ours = schedule ? ald_device_schedule_ours(schedule) : NULL };

        return pending->wanted.kind->resolve(&pending->wanted, &facts, targets);
}

static void finish_request(PendingRequest *pending, int error, const AldNeighbours *neighbours)
{
        AldMeasureRequests *requests = pending->all;
        g_autoptr(GArray) targets = ald_probe_targets_new();
        AldJob *job = NULL;
        int r = error;

        if (r >= 0)
                r = ald_gate_check(requests->parts.gate, pending->wanted.kind, pending->wanted.force);
        if (r >= 0)
                r = resolve_targets(pending, neighbours, targets);
        if (r >= 0)
                r = ald_jobs_room(requests->jobs, pending->uid);
        if (r >= 0)
                job = ald_jobs_add(requests->jobs, pending->uid, g_steal_pointer(&targets));
        pending->answered(r, job, pending->userdata);
        g_ptr_array_remove_fast(requests->list, pending);
        if (job)
                ald_jobs_step(requests->jobs);
}

/* Continues with the segments. If they are missing, no ports are neighbours and any ports may be paired. */
static void on_segments(int error, const AldRows *segments, void *userdata)
{
        const PendingRequest *pending = userdata;
        AldMeasureRequests *requests = pending->all;
        g_autoptr(AldNeighbours) neighbours = ald_neighbours_between(
                segments, pending->wanted.peer, requests->parts.jobs.own_id);

        if (error < 0 && !requests->warned)
                g_warning("Cannot read from the state service which RDMA ports are neighbours: %s",
                        ald_error_describe(error));
        requests->warned = error < 0;
        finish_request(userdata, 0, neighbours);
}

static void on_peer(int error, const AldNodeRecords *records, void *userdata)
{
        PendingRequest *pending = userdata;
        int r = error;

        if (r >= 0) {
                pending->peer = ald_node_records_ref(records);
                if (ald_probe_kind_is_rdma(pending->wanted.kind))
                        r = ald_state_query_segments(
                                pending->all->parts.query, pending->wanted.peer, on_segments, pending);
                else
                        finish_request(pending, 0, NULL);
        }
        if (r < 0)
                finish_request(pending, r, NULL);
}

/* Continues with the records of this machine, which are not known beforehand if the service has just
 * started. */
static void on_own(int error, const AldNodeRecords *records, void *userdata)
{
        PendingRequest *pending = userdata;
        bool is_local = pending->wanted.kind->local != NULL;
        int r = error;

        if (r >= 0) {
                pending->own = ald_node_records_ref(records);
                if (is_local)
                        finish_request(pending, 0, NULL);
                else
                        r = ald_state_query_node(
                                pending->all->parts.query, pending->wanted.peer, on_peer, pending);
        }
        /* The caller named a peer, so an error must not say that this machine is unknown. */
        if (r < 0)
                finish_request(pending, r == -ALD_E_NO_SUCH_NODE && !is_local ? -ENODATA : r, NULL);
}

int ald_measure_requests_add(AldMeasureRequests *requests, const AldMeasureRequest *request,
        AldMeasureRequestAnswer answered, void *userdata)
{
        const AldMeasureRequestsParts *parts = &requests->parts;
        const AldProbeTarget *wanted = &request->target;
        const AldNodeRecords *own = ald_prober_own(parts->jobs.prober);
        /* The ports and the devices of this machine must be requested in any case. */
        bool known = own->of[ALD_KIND_NETWORK] && wanted->kind->kind == ALD_KIND_LINK_SOCKET;
        PendingRequest *pending;
        int r = ald_gate_check(parts->gate, wanted->kind, wanted->force);

        if (r >= 0)
                r = ald_jobs_room(requests->jobs, request->uid);
        if (r < 0)
                return r;
        if (!wanted->kind->local && g_str_equal(wanted->peer, parts->jobs.own_id))
                return -ALD_E_OWN_NODE;
        pending = g_new(PendingRequest, 1);
        *pending = (PendingRequest){
                .all = requests,
                .uid = request->uid,
                .wanted = ald_probe_target_copy(wanted),
                .own = known ? ald_node_records_ref(own) : (AldNodeRecords){ { 0 } },
                .answered = answered,
                .userdata = userdata,
        };
        r = known ? ald_state_query_node(parts->query, wanted->peer, on_peer, pending)
                  : ald_state_query_node(parts->query, parts->jobs.own_id, on_own, pending);
        if (r < 0) {
                pending_request_free(pending);
                return r;
        }
        g_ptr_array_add(requests->list, pending);
        return 0;
}
