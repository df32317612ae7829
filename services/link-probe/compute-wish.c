/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/compute-wish.h"
#include "state/planner-device.h"

struct AldComputeWishes {
        AldNodeQuery *nodes;
        char *own_id;
        AldJobs *all;
        AldComputeJobs *jobs;
        AldComputeWishAllowed allowed;
        void *userdata;
        GPtrArray *list; /* of Wish */
};

/* One whose devices are asked about. */
typedef struct Wish {
        AldComputeWishes *wishes;
        uid_t uid;
        char *device; /* NULL: all */
        unsigned metrics;
        AldComputeWishAnswer answered;
        void *userdata;
} Wish;

static void wish_free(gpointer data)
{
        Wish *wish = data;

        g_free(wish->device);
        g_free(wish);
}

AldComputeWishes *ald_compute_wishes_new(AldNodeQuery *nodes, const char *own_id, AldJobs *all,
        AldComputeJobs *jobs, AldComputeWishAllowed allowed, void *userdata)
{
        AldComputeWishes *wishes = g_new0(AldComputeWishes, 1);

        wishes->nodes = nodes;
        wishes->own_id = g_strdup(own_id);
        wishes->all = all;
        wishes->jobs = jobs;
        wishes->allowed = allowed;
        wishes->userdata = userdata;
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
        g_free(wishes->own_id);
        g_free(wishes);
}

static void clear_target(gpointer target)
{
        ald_compute_target_clear(target);
}

static bool is_in_use(const AldSystem *system, const char *device)
{
        const AldDevice *live = system ? ald_rows_find(&system->devices, device) : NULL;

        return live && live->usage > ALD_DEVICE_USAGE_MAX_PERCENT;
}

static int find_targets(const Wish *wish, const AldNodeRecords *records, GArray *targets)
{
        const AldBackends *backends = ald_record_as(records->backends, BACKENDS, AldBackends);
        const AldSystem *system = ald_record_as(records->system, SYSTEM, AldSystem);
        int r = -ENODEV;

        if (!backends)
                return -ENODATA;
        for (size_t i = 0; i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);

                if (!backend->open_cl_platform || (wish->device && !g_str_equal(wish->device, backend->id)))
                        continue;
                if (is_in_use(system, backend->id)) {
                        r = -EADDRINUSE;
                } else {
                        AldComputeTarget target = ald_compute_target(backend, wish->metrics);

                        g_array_append_val(targets, target);
                }
        }
        return targets->len > 0 ? 0 : r;
}

static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        Wish *wish = userdata;
        AldComputeWishes *all = wish->wishes;
        AldJobs *jobs = all->all;
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldComputeTarget));
        AldJob *job = NULL;
        int r = error;

        g_array_set_clear_func(targets, clear_target);
        if (r >= 0)
                r = all->allowed(all->userdata);
        if (r >= 0)
                r = find_targets(wish, records, targets);
        if (r >= 0)
                r = ald_jobs_room(jobs, wish->uid);
        if (r >= 0)
                job = ald_compute_jobs_add(all->jobs, wish->uid, g_steal_pointer(&targets));
        wish->answered(r, job, wish->userdata);
        g_ptr_array_remove_fast(all->list, wish);
        if (job)
                ald_jobs_step(jobs);
}

int ald_compute_wishes_add(AldComputeWishes *wishes, uid_t uid, const char *device, unsigned metrics,
        AldComputeWishAnswer answered, void *userdata)
{
        Wish *wish;
        int r = wishes->allowed(wishes->userdata);

        if (r >= 0)
                r = ald_jobs_room(wishes->all, uid);
        if (r < 0)
                return r;
        wish = g_new(Wish, 1);
        *wish = (Wish){ wishes, uid, g_strdup(device), metrics, answered, userdata };
        r = ald_node_query_ask(wishes->nodes, wishes->own_id, on_records, wish);
        if (r < 0) {
                wish_free(wish);
                return r;
        }
        g_ptr_array_add(wishes->list, wish);
        return 0;
}
