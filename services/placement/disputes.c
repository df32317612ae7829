/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/plan/cluster.h"
#include "services/placement/disputes.h"
#include "state/link-quality.h"
#include "state/link-result.h"

/* Of one prober between two ports; more than this are paths that were made up. */
#define PATHS_MAX 16u

/* What the ends of one direction between two ports measured. */
typedef struct BothEnds {
        uint32_t of_source[PATHS_MAX], of_sink[PATHS_MAX]; /* indices */
        guint n_of_source, n_of_sink;
} BothEnds;

static bool is_by_source(const AldEdgeRow *edge)
{
        return g_strcmp0(edge->prober, edge->source) == 0;
}

/* An address of each family may take another way. NULL if the ports are unknown; to be freed. */
static char *direction_key(const AldPlanPath *path)
{
        const AldEdgeRow *edge = path->edge;
        const char *address = path->sink_address ? path->sink_address : path->source_address;

        if (!edge || !edge->prober || !edge->source_port || !edge->source_port[0] || !edge->sink_port ||
                !edge->sink_port[0] || edge->measured_usec == ALD_ABSENT_UINT64)
                return NULL;
        return g_strdup_printf("%d%d\n%u\n%s\n%u\n%s", path->is_rdma, address && strchr(address, ':') != NULL,
                path->source, edge->source_port, path->sink, edge->sink_port);
}

static uint64_t ttl_of(const AldPlanPath *path)
{
        return path->edge->time_to_live_usec == ALD_ABSENT_UINT64
                       ? ald_planner_ttl(path->is_rdma ? ALD_KIND_LINK_RDMA : ALD_KIND_LINK_SOCKET)
                       : path->edge->time_to_live_usec;
}

static bool is_same_time(const AldPlanPath *a, const AldPlanPath *b)
{
        uint64_t first = MIN(a->edge->measured_usec, b->edge->measured_usec);
        uint64_t last = MAX(a->edge->measured_usec, b->edge->measured_usec);

        return last - first <= MIN(ttl_of(a), ttl_of(b));
}

/* Full measurements some minutes apart also differ by a few percent. */
static bool is_higher(const AldEdgeRow *high, const AldEdgeRow *low)
{
        return ald_link_rate_least(high->bits_per_second, high->interval) >
                       ald_link_rate_most(low->bits_per_second, low->interval) &&
               (double) high->bits_per_second >
                       (double) low->bits_per_second * (1 + ALD_LINK_AGREE_PERCENT / 100);
}

static void settle(AldPlanPath *a, AldPlanPath *b)
{
        AldPlanPath *high = is_higher(a->edge, b->edge) ? a : is_higher(b->edge, a->edge) ? b : NULL;
        AldPlanPath *low = high == a ? b : a;
        double disputed = high ? (double) high->edge->bits_per_second : 0;

        if (!high || !is_same_time(a, b))
                return;
        high->bits_per_second = fmin(high->bits_per_second, (double) low->edge->bits_per_second);
        high->disputed_bits_per_second = fmax(high->disputed_bits_per_second, disputed);
        low->disputed_bits_per_second = fmax(low->disputed_bits_per_second, disputed);
}

static BothEnds *find_ends(GHashTable *directions, char *key)
{
        BothEnds *ends = g_hash_table_lookup(directions, key);

        if (ends) {
                g_free(key);
                return ends;
        }
        ends = g_new0(BothEnds, 1);
        g_hash_table_insert(directions, key, ends);
        return ends;
}

/* Compares a path with those that the other end measured, which were added before. */
static void add_path(GArray *paths, GHashTable *directions, uint32_t index)
{
        AldPlanPath *path = &g_array_index(paths, AldPlanPath, index);
        char *key = direction_key(path);
        bool by_source;
        BothEnds *ends;
        guint *n;

        if (!key)
                return;
        ends = find_ends(directions, key);
        by_source = is_by_source(path->edge);
        n = by_source ? &ends->n_of_source : &ends->n_of_sink;
        for (guint i = 0; i < (by_source ? ends->n_of_sink : ends->n_of_source); i++)
                settle(path, &g_array_index(
                                     paths, AldPlanPath, by_source ? ends->of_sink[i] : ends->of_source[i]));
        if (*n < PATHS_MAX)
                (by_source ? ends->of_source : ends->of_sink)[(*n)++] = index;
}

void ald_plan_disputes_settle(GArray *paths)
{
        g_autoptr(GHashTable) directions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        for (guint i = 0; i < paths->len; i++)
                add_path(paths, directions, i);
}
