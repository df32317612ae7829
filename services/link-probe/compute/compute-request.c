/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/errors.h"
#include "services/common/service.h"
#include "services/link-probe/compute/compute-request.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"

struct AldComputeRequests {
        AldComputeRequestsParts parts;
        GPtrArray *list; /* of Pending */
};

/* A pending request. */
typedef struct Pending {
        AldComputeRequests *requests;
        uid_t uid;
        AldComputeRequest request;
        char *device; /* of the request; NULL: all */
        AldComputeRequestAnswer answered;
        void *userdata;
} Pending;

static void pending_free(gpointer data)
{
        Pending *pending = data;

        g_free(pending->device);
        g_free(pending);
}

AldComputeRequests *ald_compute_requests_new(const AldComputeRequestsParts *parts)
{
        AldComputeRequests *requests = g_new0(AldComputeRequests, 1);

        requests->parts = *parts;
        requests->list = g_ptr_array_new_with_free_func(pending_free);
        return requests;
}

void ald_compute_requests_free(AldComputeRequests *requests)
{
        if (!requests)
                return;
        for (unsigned i = 0; i < requests->list->len; i++) {
                const Pending *pending = requests->list->pdata[i];

                pending->answered(-ECANCELED, NULL, pending->userdata);
        }
        g_ptr_array_unref(requests->list);
        g_free(requests);
}

static int find_targets(const Pending *pending, const AldNodeRecords *records, GArray *targets)
{
        const AldComputeRequestsParts *parts = &pending->requests->parts;
        const AldProbeTarget wanted = { .kind = &ald_probe_compute,
                .device = pending->device,
                .metrics = pending->request.metrics,
                .force = pending->request.force };
        const AldProbeFacts facts = { .own_id = parts->own_id,
                .now_realtime = ald_realtime_usec(),
                .own = records,
                .is_ours = parts->is_ours,
                .userdata = parts->userdata };

        return wanted.kind->resolve(&wanted, &facts, targets);
}

static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        Pending *pending = userdata;
        AldComputeRequests *all = pending->requests;
        AldJobs *jobs = all->parts.all;
        g_autoptr(GArray) targets = ald_probe_targets_new();
        AldJob *job = NULL;
        int r = error;

        if (r >= 0)
                r = all->parts.allowed(pending->request.force, all->parts.userdata);
        if (r >= 0)
                r = find_targets(pending, records, targets);
        if (r >= 0)
                r = ald_jobs_room(jobs, pending->uid);
        if (r >= 0)
                job = ald_compute_jobs_add(all->parts.jobs, pending->uid, g_steal_pointer(&targets));
        pending->answered(r, job, pending->userdata);
        g_ptr_array_remove_fast(all->list, pending);
        if (job)
                ald_jobs_step(jobs);
}

int ald_compute_requests_add(AldComputeRequests *requests, uid_t uid, const AldComputeRequest *request,
        AldComputeRequestAnswer answered, void *userdata)
{
        const AldComputeRequestsParts *parts = &requests->parts;
        Pending *pending;
        int r = parts->allowed(request->force, parts->userdata);

        if (r >= 0)
                r = ald_jobs_room(parts->all, uid);
        if (r < 0)
                return r;
        pending = g_new(Pending, 1);
        *pending = (Pending){ requests, uid, *request, g_strdup(request->device), answered, userdata };
        pending->request.device = pending->device;
        r = ald_state_query_node(parts->nodes, parts->own_id, on_records, pending);
        if (r < 0) {
                pending_free(pending);
                return r;
        }
        g_ptr_array_add(requests->list, pending);
        return 0;
}
