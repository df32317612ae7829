/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/service.h"
#include "services/link-probe/compute-wish.h"
#include "state/planner-device.h"

struct AldComputeWishes {
        AldComputeWishParts parts;
        GPtrArray *list; /* of Wish */
};

/* A pending request. */
typedef struct Wish {
        AldComputeWishes *wishes;
        uid_t uid;
        AldComputeRequest request;
        char *device; /* of the request; NULL: all */
        AldComputeWishAnswer answered;
        void *userdata;
} Wish;

static void wish_free(gpointer data)
{
        Wish *wish = data;

        g_free(wish->device);
        g_free(wish);
}

AldComputeWishes *ald_compute_wishes_new(const AldComputeWishParts *parts)
{
        AldComputeWishes *wishes = g_new0(AldComputeWishes, 1);

        wishes->parts = *parts;
        wishes->list = g_ptr_array_new_with_free_func(wish_free);
        return wishes;
}

void ald_compute_wishes_free(AldComputeWishes *wishes)
{
        if (!wishes)
                return;
        for (unsigned i = 0; i < wishes->list->len; i++) {
                const Wish *wish = wishes->list->pdata[i];

                wish->answered(-ECANCELED, NULL, wish->userdata);
        }
        g_ptr_array_unref(wishes->list);
        g_free(wishes);
}

static void clear_target(gpointer target)
{
        ald_compute_target_clear(target);
}

/* Devices that are asleep or do not report their load may be measured on request. */
static bool is_in_use(const Wish *wish, const AldDeviceRecords *records, const AldBackend *backend)
{
        const AldComputeWishParts *parts = &wish->wishes->parts;
        AldDeviceObstacle obstacle = ald_device_obstacle(records, backend, ald_realtime_usec());

        return (obstacle == ALD_DEVICE_COMPUTED_ON || obstacle == ALD_DEVICE_IN_USE) &&
               !parts->is_ours(backend->id, parts->userdata);
}

static int find_targets(const Wish *wish, const AldNodeRecords *records, GArray *targets)
{
        const AldDeviceRecords devices = ald_node_records_devices(records, wish->wishes->parts.own_id);
        int r = -ENODEV;

        if (!devices.backends)
                return -ENODATA;
        for (size_t i = 0; i < devices.backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&devices.backends->devices, i);

                if (!ald_device_is_measurable(devices.backends, backend) ||
                        (wish->device && !g_str_equal(wish->device, backend->id)))
                        continue;
                if (!wish->request.force && is_in_use(wish, &devices, backend)) {
                        r = -EADDRINUSE;
                } else {
                        AldComputeTarget target = ald_compute_target(
                                backend, wish->request.metrics, wish->request.force);

                        g_array_append_val(targets, target);
                }
        }
        return targets->len > 0 ? 0 : r;
}

static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        Wish *wish = userdata;
        AldComputeWishes *all = wish->wishes;
        AldJobs *jobs = all->parts.all;
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldComputeTarget));
        AldJob *job = NULL;
        int r = error;

        g_array_set_clear_func(targets, clear_target);
        if (r >= 0)
                r = all->parts.allowed(wish->request.force, all->parts.userdata);
        if (r >= 0)
                r = find_targets(wish, records, targets);
        if (r >= 0)
                r = ald_jobs_room(jobs, wish->uid);
        if (r >= 0)
                job = ald_compute_jobs_add(all->parts.jobs, wish->uid, g_steal_pointer(&targets));
        wish->answered(r, job, wish->userdata);
        g_ptr_array_remove_fast(all->list, wish);
        if (job)
                ald_jobs_step(jobs);
}

int ald_compute_wishes_add(AldComputeWishes *wishes, uid_t uid, const AldComputeRequest *request,
        AldComputeWishAnswer answered, void *userdata)
{
        const AldComputeWishParts *parts = &wishes->parts;
        Wish *wish;
        int r = parts->allowed(request->force, parts->userdata);

        if (r >= 0)
                r = ald_jobs_room(parts->all, uid);
        if (r < 0)
                return r;
        wish = g_new(Wish, 1);
        *wish = (Wish){ wishes, uid, *request, g_strdup(request->device), answered, userdata };
        wish->request.device = wish->device;
        r = ald_state_query_node(parts->nodes, parts->own_id, on_records, wish);
        if (r < 0) {
                wish_free(wish);
                return r;
        }
        g_ptr_array_add(wishes->list, wish);
        return 0;
}
