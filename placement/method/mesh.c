/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "placement/method/mesh.h"
#include "placement/plan/cost.h"

typedef struct Member {
        uint32_t candidate;
        double nsec;
} Member;

static int compare_members(const void *a, const void *b)
{
        const Member *one = a, *other = b;

        if (one->nsec != other->nsec)
                return one->nsec < other->nsec ? -1 : 1;
        return one->candidate < other->candidate ? -1 : 1;
}

static bool has_room(
        const AldSliceMesh *mesh, const AldPlanCandidates *candidates, uint32_t candidate, uint64_t beside)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanDevice *device = ald_plan_candidate_device(candidates, candidate);

        return ald_slices_bytes(request, device, mesh->slices, beside) <= device->free_bytes;
}

static uint32_t list_members(const AldSliceMesh *mesh, const AldPlanCandidates *candidates,
        const AldPlanChoice *choice, Member *ret)
{
        const AldPlanRequest *request = candidates->request;
        uint32_t n = 0;

        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_allows(choice, i) && has_room(mesh, candidates, i, 0))
                        ret[n++] = (Member){ .candidate = i,
                                .nsec = ald_slices_nsec(&request->constants,
                                        ald_plan_candidate_device(candidates, i), request->workload,
                                        mesh->slices) };
        if (n > 0)
                qsort(ret, n, sizeof *ret, compare_members);
        return n;
}

/* Sets the least latency and the least time per byte of all paths between two nodes, so that no single path
 * is better. */
static void relax_hop(AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, size_t at)
{
        for (uint32_t i = ald_plan_path_first(candidates, source, sink); i != ALD_PLAN_NONE;
                i = candidates->next_path[i]) {
                AldPlanPath path = ald_plan_path_at(candidates, choice, source, sink, i);

                mesh->half_nsec[at] = fmin(mesh->half_nsec[at], ald_plan_path_nsec(&path, 0));
                path.rtt_nsec = 0;
                mesh->byte_nsec[at] = fmin(mesh->byte_nsec[at], ald_plan_path_nsec(&path, 1));
        }
}

static void set_hops(AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        for (uint32_t i = 0; i < mesh->n; i++)
                for (uint32_t j = 0; j < mesh->n; j++) {
                        AldPlanPath path = ald_plan_path_of(candidates, choice,
                                ald_plan_candidate_device(candidates, mesh->members[i])->node,
                                ald_plan_candidate_device(candidates, mesh->members[j])->node,
                                mesh->transfers.exchange_bytes);
                        size_t at = (size_t) i * mesh->n + j;

                        mesh->half_nsec[at] = ald_plan_path_nsec(&path, 0);
                        path.rtt_nsec = 0;
                        mesh->byte_nsec[at] = ald_plan_path_nsec(&path, 1);
                }
}

bool ald_slice_mesh_relax(
        AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        bool changed = false;

        for (uint32_t i = 0; i < mesh->n; i++)
                for (uint32_t j = 0; j < mesh->n; j++) {
                        size_t at = (size_t) i * mesh->n + j;
                        double half = mesh->half_nsec[at], byte = mesh->byte_nsec[at];

                        relax_hop(mesh, candidates, choice,
                                ald_plan_candidate_device(candidates, mesh->members[i])->node,
                                ald_plan_candidate_device(candidates, mesh->members[j])->node, at);
                        changed |= mesh->half_nsec[at] < half || mesh->byte_nsec[at] < byte;
                }
        return changed;
}

void ald_slice_mesh_init(
        AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t slices)
{
        const AldPlanRequest *request = candidates->request;
        g_autofree Member *members = g_new(Member, candidates->n);

        *mesh = (AldSliceMesh){ .slices = slices,
                .progress = candidates->progress,
                .transfers = ald_slices_transfers(&request->constants, request->workload, slices) };
        mesh->n = list_members(mesh, candidates, choice, members);
        mesh->members = g_new(uint32_t, mesh->n);
        mesh->nsec = g_new(double, mesh->n);
        mesh->required = g_new(bool, mesh->n);
        mesh->may_be_root = g_new(bool, mesh->n);
        mesh->half_nsec = g_new(double, (size_t) mesh->n * mesh->n);
        mesh->byte_nsec = g_new(double, (size_t) mesh->n * mesh->n);
        for (uint32_t i = 0; i < mesh->n; i++) {
                uint32_t candidate = members[i].candidate;

                mesh->members[i] = candidate;
                mesh->nsec[i] = members[i].nsec;
                mesh->required[i] = ald_plan_requires(candidates, choice, candidate);
                mesh->may_be_root[i] =
                        has_room(mesh, candidates, candidate, request->workload->embedding_bytes) &&
                        (choice->client == ALD_PLAN_NONE ||
                                choice->client == ald_plan_candidate_device(candidates, candidate)->node);
        }
        set_hops(mesh, candidates, choice);
}

void ald_slice_mesh_clear(AldSliceMesh *mesh)
{
        g_free(mesh->members);
        g_free(mesh->nsec);
        g_free(mesh->required);
        g_free(mesh->may_be_root);
        g_free(mesh->half_nsec);
        g_free(mesh->byte_nsec);
}

/* The paths between one member and all others of a set. */
typedef struct Links {
        double half_to, half_from;   /* the longest half round trips */
        double bytes_to, bytes_from; /* the sums of the times of a byte */
} Links;

static Links links_of(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t member)
{
        Links links = { 0 };

        for (uint32_t i = 0; i < n; i++) {
                size_t to = (size_t) member * mesh->n + set[i], from = (size_t) set[i] * mesh->n + member;

                if (set[i] == member)
                        continue;
                links.half_to = fmax(links.half_to, mesh->half_nsec[to]);
                links.half_from = fmax(links.half_from, mesh->half_nsec[from]);
                links.bytes_to += mesh->byte_nsec[to];
                links.bytes_from += mesh->byte_nsec[from];
        }
        return links;
}

double ald_slice_mesh_exchange_nsec(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n)
{
        double half = 0, byte = 0;

        for (uint32_t i = 0; i < n; i++) {
                Links links = links_of(mesh, set, n, set[i]);

                half = fmax(half, fmax(links.half_to, links.half_from));
                byte = fmax(byte, fmax(links.bytes_to, links.bytes_from));
        }
        return mesh->transfers.exchanges * (half + mesh->transfers.exchange_bytes * byte);
}

double ald_slice_mesh_root_nsec(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t root)
{
        Links links = links_of(mesh, set, n, root);

        return mesh->transfers.turns *
               (links.half_to + mesh->transfers.start_bytes * links.bytes_to + links.half_from +
                       mesh->transfers.end_bytes * links.bytes_from);
}

double ald_slice_mesh_share_nsec(
        const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t root, uint32_t member)
{
        const uint32_t pair[] = { root, member };
        Links links = links_of(mesh, set, n, member);
        double exchange = fmax(links.half_to, links.half_from) +
                          mesh->transfers.exchange_bytes * fmax(links.bytes_to, links.bytes_from);
        double root_nsec = root == member ? ald_slice_mesh_root_nsec(mesh, set, n, root)
                                          : ald_slice_mesh_root_nsec(mesh, pair, 2, root);

        return mesh->transfers.exchanges * exchange + root_nsec;
}
