/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/wish.h"
#include "state/candidates.h"
#include "state/network.h"

struct AldWishes {
        char *own_id;
        AldStateQuery *query;
        AldLinkJobs *jobs;
        AldWishAllowed allowed;
        void *userdata;
        GPtrArray *list; /* of Waiting */
};

/* One whose node is asked about. */
typedef struct Waiting {
        AldWishes *all;
        AldWish wish;
        AldRecord *own; /* the Node1.Network of this machine; may be NULL */
        AldWishAnswer answered;
        void *userdata;
} Waiting;

static void waiting_free(gpointer data)
{
        Waiting *waiting = data;

        g_clear_pointer(&waiting->own, ald_record_unref);
        g_free(waiting);
}

AldWishes *ald_wishes_new(
        const char *own_id, AldStateQuery *query, AldLinkJobs *jobs, AldWishAllowed allowed, void *userdata)
{
        AldWishes *wishes = g_new0(AldWishes, 1);

        wishes->own_id = g_strdup(own_id);
        wishes->query = query;
        wishes->jobs = jobs;
        wishes->allowed = allowed;
        wishes->userdata = userdata;
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
        g_free(wishes->own_id);
        g_free(wishes);
}

static int add_paths(const AldWish *wish, const AldNetwork *own, const AldNetwork *peer, GArray *targets)
{
        g_autoptr(GArray) paths = own ? ald_candidates_compute(own, peer) : NULL;
        AldProbeTarget target;

        for (unsigned i = 0; paths && i < paths->len; i++) {
                const AldCandidate *path = &g_array_index(paths, AldCandidate, i);

                if (ald_probe_target_set(&target, wish->target.peer, path->address,
                            path->interface ? path->interface->id : NULL) < 0)
                        continue;
                target.rtt_only = wish->target.rtt_only;
                g_array_append_val(targets, target);
        }
        return targets->len > 0 ? 0 : -ENXIO;
}

int ald_wish_resolve(const AldWish *wish, const AldNetwork *own, const AldNetwork *peer, GArray *targets)
{
        if (!peer)
                return -ENXIO;
        if (*wish->target.address == '\0')
                return add_paths(wish, own, peer, targets);
        if (!ald_network_find_address(peer, wish->target.address))
                return -ENXIO;
        g_array_append_val(targets, wish->target);
        return 0;
}

static void on_network(int error, AldRecord *network, void *userdata)
{
        Waiting *waiting = userdata;
        const AldWishes *all = waiting->all;
        AldJobs *jobs = ald_link_jobs_all(all->jobs);
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldProbeTarget));
        AldJob *job = NULL;
        int r = error;

        if (r >= 0)
                r = all->allowed(all->userdata);
        if (r >= 0)
                r = ald_wish_resolve(&waiting->wish, ald_record_as(waiting->own, NETWORK, AldNetwork),
                        ald_record_as(network, NETWORK, AldNetwork), targets);
        if (r >= 0)
                r = ald_jobs_room(jobs, waiting->wish.uid);
        if (r >= 0)
                job = ald_link_jobs_add(all->jobs, waiting->wish.uid, g_steal_pointer(&targets));
        waiting->answered(r, job, waiting->userdata);
        g_ptr_array_remove_fast(all->list, waiting);
        if (job)
                ald_jobs_step(jobs);
}

/* Our own interfaces are not known yet where the service has just begun. */
static void on_own(int error, AldRecord *network, void *userdata)
{
        Waiting *waiting = userdata;
        int r = error;

        if (r >= 0) {
                waiting->own = network ? ald_record_ref(network) : NULL;
                r = ald_state_query_network(
                        waiting->all->query, waiting->wish.target.peer, on_network, waiting);
        }
        /* That this machine is not known is not what the caller asked about. */
        if (r < 0)
                on_network(r == -ENOENT ? -ENODATA : r, NULL, waiting);
}

int ald_wishes_add(
        AldWishes *wishes, const AldWish *wish, AldRecord *own, AldWishAnswer answered, void *userdata)
{
        Waiting *waiting;
        int r = wishes->allowed(wishes->userdata);

        if (r >= 0)
                r = ald_jobs_room(ald_link_jobs_all(wishes->jobs), wish->uid);
        if (r < 0)
                return r;
        if (g_str_equal(wish->target.peer, wishes->own_id))
                return -EINVAL;
        waiting = g_new(Waiting, 1);
        *waiting = (Waiting){
                .all = wishes,
                .wish = *wish,
                .own = own ? ald_record_ref(own) : NULL,
                .answered = answered,
                .userdata = userdata,
        };
        r = own ? ald_state_query_network(wishes->query, wish->target.peer, on_network, waiting)
                : ald_state_query_network(wishes->query, wishes->own_id, on_own, waiting);
        if (r < 0) {
                waiting_free(waiting);
                return r;
        }
        g_ptr_array_add(wishes->list, waiting);
        return 0;
}
