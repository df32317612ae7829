/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "placement/method/mesh-search.h"
#include "placement/problem.h"

#define WORK 4000u    /* sets, complete or not, that are tried in a large mesh */
#define ROUNDING 1e-9 /* relative error of a sum whose terms are in another order */
#define SEEDS 8u      /* members from which sets are built by adding the best one each time */

/* A set that grows and shrinks. */
typedef struct Search {
        const AldSliceMesh *mesh;
        uint32_t *set, n;
        double *to, *from; /* [n][member]: time of a byte to, and from, each other one of the first n */
        double *least_to, *least_from; /* [member]: the least time of a byte to, and from, any other */
        double *half;                  /* [n]: the longest half round trip among the first n */
        double root_nsec;              /* lower bound on the transfers of any root */
        bool is_stopped;
        uint32_t work;
        AldSliceSet best;
} Search;

static double *table_row(const Search *self, double *table)
{
        return table + (size_t) self->n * self->mesh->n;
}

static double least_byte(const AldSliceMesh *mesh, uint32_t member, bool from)
{
        double least = INFINITY;

        for (uint32_t i = 0; i < mesh->n; i++)
                if (i != member)
                        least = fmin(least, mesh->byte_nsec[from ? (size_t) i * mesh->n + member
                                                                 : (size_t) member * mesh->n + i]);
        return least;
}

static void search_init(Search *self, const AldSliceMesh *mesh, double enough_nsec)
{
        double byte = INFINITY, half = INFINITY;
        size_t rows = (size_t) mesh->slices + 1;

        *self = (Search){ .mesh = mesh,
                .set = g_new(uint32_t, rows),
                .to = g_new0(double, rows * mesh->n),
                .from = g_new0(double, rows * mesh->n),
                .least_to = g_new(double, mesh->n),
                .least_from = g_new(double, mesh->n),
                .half = g_new0(double, rows),
                .work = mesh->n <= ALD_SLICE_EXACT_MAX ? UINT32_MAX : WORK,
                .best = { .nsec = enough_nsec } };
        for (uint32_t i = 0; i < mesh->n; i++) {
                self->least_to[i] = least_byte(mesh, i, false);
                self->least_from[i] = least_byte(mesh, i, true);
                byte = fmin(byte, self->least_to[i]);
                for (uint32_t j = 0; j < mesh->n; j++)
                        if (i != j)
                                half = fmin(half, mesh->half_nsec[(size_t) i * mesh->n + j]);
        }
        if (mesh->slices > 1)
                self->root_nsec = mesh->transfers.turns *
                                  (2 * half +
                                          (mesh->slices - 1) * byte *
                                                  (mesh->transfers.start_bytes + mesh->transfers.end_bytes));
}

static void search_clear(Search *self)
{
        g_free(self->set);
        g_free(self->to);
        g_free(self->from);
        g_free(self->least_to);
        g_free(self->least_from);
        g_free(self->half);
        g_free(self->best.members);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

static void push_member(Search *self, uint32_t member)
{
        const AldSliceMesh *mesh = self->mesh;
        const double *to = table_row(self, self->to), *from = table_row(self, self->from);
        double half = self->half[self->n], *next_to, *next_from;

        for (uint32_t i = 0; i < self->n; i++) {
                size_t there = (size_t) member * mesh->n + self->set[i];
                size_t back = (size_t) self->set[i] * mesh->n + member;

                half = fmax(half, fmax(mesh->half_nsec[there], mesh->half_nsec[back]));
        }
        self->set[self->n++] = member;
        self->half[self->n] = half;
        next_to = table_row(self, self->to);
        next_from = table_row(self, self->from);
        for (uint32_t i = 0; i < mesh->n; i++) {
                next_to[i] = to[i] + (i == member ? 0 : mesh->byte_nsec[(size_t) i * mesh->n + member]);
                next_from[i] = from[i] + (i == member ? 0 : mesh->byte_nsec[(size_t) member * mesh->n + i]);
        }
}

/* Returns a lower bound on the time of the set once it is complete. Its slowest member takes at least
 * slowest_nsec. */
static double lower_bound(const Search *self, double slowest_nsec)
{
        const AldSliceMesh *mesh = self->mesh;
        const double *to = table_row(self, self->to), *from = table_row(self, self->from);
        double byte = 0, slowest = slowest_nsec;
        uint32_t missing = mesh->slices - self->n;

        for (uint32_t i = 0; i < self->n; i++) {
                uint32_t member = self->set[i];

                slowest = fmax(slowest, mesh->nsec[member]);
                /* 0 · INFINITY is NAN. */
                byte = fmax(byte, to[member] + (missing > 0 ? missing * self->least_to[member] : 0));
                byte = fmax(byte, from[member] + (missing > 0 ? missing * self->least_from[member] : 0));
        }
        return slowest + self->root_nsec +
               (mesh->slices == 1 ? 0
                                  : mesh->transfers.exchanges *
                                            (self->half[self->n] + mesh->transfers.exchange_bytes * byte));
}

/* Keeps the complete set if it is the best one. */
static void keep_if_best(Search *self)
{
        const AldSliceMesh *mesh = self->mesh;
        double slowest = 0, exchange = ald_slice_mesh_exchange_nsec(mesh, self->set, self->n);

        for (uint32_t i = 0; i < self->n; i++)
                slowest = fmax(slowest, mesh->nsec[self->set[i]]);
        for (uint32_t i = 0; i < self->n; i++) {
                uint32_t root = self->set[i];
                double nsec = slowest + exchange + ald_slice_mesh_root_nsec(mesh, self->set, self->n, root);

                if (!mesh->may_be_root[root] || !(nsec < self->best.nsec * (1 - ROUNDING)))
                        continue;
                g_free(self->best.members);
                self->best = (AldSliceSet){ .members = g_memdup2(self->set, self->n * sizeof *self->set),
                        .root = root,
                        .nsec = nsec };
        }
}

static bool goes_on(Search *self)
{
        self->is_stopped |= !ald_plan_progress_may_continue(self->mesh->progress);
        return !self->is_stopped;
}

/* Tries all sets that add members from number `first` on to the current ones, which include the required
 * ones. */
static void try_extensions(Search *self, uint32_t first)
{
        const AldSliceMesh *mesh = self->mesh;
        uint32_t before = self->n;

        if (before == mesh->slices)
                keep_if_best(self);
        for (uint32_t i = first; before < mesh->slices && i < mesh->n && self->work > 0 && goes_on(self);
                i++) {
                uint32_t missing = mesh->slices - before - 1;

                if (mesh->required[i])
                        continue;
                /* Too few members are left, since members from here on are not faster. */
                if (i + missing >= mesh->n)
                        return;
                if (mesh->n > ALD_SLICE_EXACT_MAX)
                        self->work--;
                push_member(self, i);
                if (lower_bound(self, mesh->nsec[i]) < self->best.nsec * (1 - ROUNDING))
                        try_extensions(self, i + 1);
                self->n = before;
        }
}

/* Returns whether the member is in the set. */
static bool is_taken(const Search *self, uint32_t member)
{
        for (uint32_t i = 0; i < self->n; i++)
                if (self->set[i] == member)
                        return true;
        return false;
}

/* Completes the set by adding the best member each time. */
static void complete_greedily(Search *self)
{
        while (self->n < self->mesh->slices) {
                uint32_t n = self->n, best = self->mesh->n;
                double least = INFINITY;

                if (!goes_on(self))
                        return;
                for (uint32_t i = 0; i < self->mesh->n; i++) {
                        double nsec;

                        if (is_taken(self, i))
                                continue;
                        push_member(self, i);
                        nsec = lower_bound(self, 0);
                        self->n = n;
                        if (nsec >= least)
                                continue;
                        least = nsec;
                        best = i;
                }
                if (best == self->mesh->n)
                        return;
                push_member(self, best);
        }
        keep_if_best(self);
}

/* Returns the sum of the `taken` least values. Sorts the values. */
static double sum_of_least(double *values, uint32_t n, uint32_t taken)
{
        double sum = 0;

        qsort(values, n, sizeof *values, ald_placement_compare_nsec);
        for (uint32_t i = 0; i < taken; i++)
                sum += values[i];
        return sum;
}

/* Returns the nth least value, counted from 1; 0 if nth is 0. Sorts the values. */
static double nth_least(double *values, uint32_t n, uint32_t nth)
{
        qsort(values, n, sizeof *values, ald_placement_compare_nsec);
        return nth == 0 ? 0 : values[nth - 1];
}

/* Returns a lower bound on one exchange of a member with the others: its time per byte, or its half round
 * trip. */
static double member_least(const AldSliceMesh *mesh, uint32_t member, bool bytes, double *values)
{
        const double *table = bytes ? mesh->byte_nsec : mesh->half_nsec;
        double least[2];

        for (int from = 0; from < 2; from++) {
                uint32_t n = 0;

                for (uint32_t i = 0; i < mesh->n; i++)
                        if (i != member)
                                values[n++] = table[from ? (size_t) i * mesh->n + member
                                                         : (size_t) member * mesh->n + i];
                least[from] = bytes ? sum_of_least(values, n, mesh->slices - 1)
                                    : nth_least(values, n, mesh->slices - 1);
        }
        return fmax(least[0], least[1]);
}

/* Returns a lower bound on every set, as if it consisted of the best members in each respect. */
static double relaxed_bound(const Search *self)
{
        const AldSliceMesh *mesh = self->mesh;
        g_autofree double *values = g_new(double, mesh->n), *halves = g_new(double, mesh->n),
                          *bytes = g_new(double, mesh->n);
        double exchange;

        /* There is no time to bound the exchanges, too. */
        if (self->is_stopped)
                return mesh->nsec[mesh->slices - 1] + self->root_nsec;
        for (uint32_t i = 0; i < mesh->n; i++) {
                halves[i] = member_least(mesh, i, false, values);
                bytes[i] = member_least(mesh, i, true, values);
        }
        exchange = nth_least(halves, mesh->n, mesh->slices) +
                   mesh->transfers.exchange_bytes * nth_least(bytes, mesh->n, mesh->slices);
        return mesh->nsec[mesh->slices - 1] + self->root_nsec + mesh->transfers.exchanges * exchange;
}

/* Adds the required members. Returns false if there are too many. */
static bool push_required(Search *self)
{
        for (uint32_t i = 0; i < self->mesh->n; i++)
                if (self->mesh->required[i]) {
                        if (self->n == self->mesh->slices)
                                return false;
                        push_member(self, i);
                }
        return true;
}

static void search_sets(Search *self)
{
        uint32_t required = self->n;

        complete_greedily(self);
        self->n = required;
        for (uint32_t i = 0; required < self->mesh->slices && i < MIN(self->mesh->n, SEEDS); i++) {
                if (self->mesh->required[i])
                        continue;
                push_member(self, i);
                complete_greedily(self);
                self->n = required;
        }
        try_extensions(self, 0);
}

int ald_slice_mesh_search(
        const AldSliceMesh *mesh, double enough_nsec, AldSliceSet *ret, double *ret_lower_nsec)
{
        g_auto(Search) self = { 0 };

        *ret_lower_nsec = INFINITY;
        if (mesh->n < mesh->slices)
                return -ENOSPC;
        search_init(&self, mesh, enough_nsec);
        if (!push_required(&self))
                return -ENOSPC;
        search_sets(&self);
        *ret_lower_nsec = self.work > 0 && !self.is_stopped ? self.best.nsec : relaxed_bound(&self);
        if (!self.best.members)
                return -ENOSPC;
        *ret = self.best;
        self.best.members = NULL;
        return 0;
}
