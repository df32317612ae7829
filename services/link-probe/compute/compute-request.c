/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/errors.h"
#include "services/common/service.h"
#include "services/link-probe/compute/compute-request.h"
#include "state/planner/planner-device.h"

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

static void clear_target(gpointer target)
{
        ald_compute_target_clear(target);
}

/* Devices that are asleep or do not report their load may be measured on request. */
static bool is_in_use(const Pending *pending, const AldDeviceRecords *records, const AldBackend *backend)
{
        const AldComputeRequestsParts *parts = &pending->requests->parts;
        AldDeviceObstacle obstacle = ald_device_obstacle(records, backend, ald_realtime_usec());

        return (obstacle == ALD_DEVICE_COMPUTED_ON || obstacle == ALD_DEVICE_IN_USE) &&
               !parts->is_ours(backend->id, parts->userdata);
}

static int find_targets(const Pending *pending, const AldNodeRecords *records, GArray *targets)
{
        const AldDeviceRecords devices = ald_node_records_devices(records, pending->requests->parts.own_id);
        int r = -ALD_E_NO_SUCH_DEVICE;

        if (!devices.backends)
                return -ENODATA;
        for (size_t i = 0; i < devices.backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&devices.backends->devices, i);

                if (!ald_device_is_measurable(devices.backends, backend) ||
                        (pending->device && !g_str_equal(pending->device, backend->id)))
                        continue;
                if (!pending->request.force && is_in_use(pending, &devices, backend)) {
                        r = -ALD_E_BUSY;
                } else {
                        AldComputeTarget target = ald_compute_target(
                                backend, pending->request.metrics, pending->request.force);

                        g_array_append_val(targets, target);
                }
        }
        return targets->len > 0 ? 0 : r;
}

static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        Pending *pending = userdata;
        AldComputeRequests *all = pending->requests;
        AldJobs *jobs = all->parts.all;
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldComputeTarget));
        AldJob *job = NULL;
        int r = error;

        g_array_set_clear_func(targets, clear_target);
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
