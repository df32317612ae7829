/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/plan/cluster.h"
#include "services/placement/rate-disputes.h"
#include "state/link/link-quality.h"
#include "state/results/link-result.h"

/* Limits the paths of the other end that each path is compared with. A node cannot evade this by reporting
 * more paths: the decisive ones are compared first, and every path is compared. */
#define COMPARED_MAX 16u

static bool is_by_source(const AldEdgeRow *edge)
{
        return g_strcmp0(edge->prober, edge->source) == 0;
}

/* Returns a key for all measurements of this kind by one end in this direction, regardless of ports. To be
 * freed. */
static char *nodes_key(const AldPlanPath *path, bool by_source)
{
        return g_strdup_printf("%d%d %u %u", path->is_rdma, by_source, path->source, path->sink);
}

/* Returns a key for those between the same ports. Addresses of different families may take different ways.
 * NULL if the ports are unknown; to be freed. */
static char *ports_key(const AldPlanPath *path, bool by_source)
{
        const AldEdgeRow *edge = path->edge;
        const char *address = path->sink_address ? path->sink_address : path->source_address;
        g_autofree char *nodes = nodes_key(path, by_source);

        if (!edge->source_port || !edge->source_port[0] || !edge->sink_port || !edge->sink_port[0])
                return NULL;
        return g_strdup_printf("%s\n%d\n%s\n%s", nodes, address && strchr(address, ':') != NULL,
                edge->source_port, edge->sink_port);
}

/* Returns the time to live of a path. A prober states it for its own record, but does not measure more often
 * than the least. */
static uint64_t ttl_of(const AldPlanPath *path)
{
        uint64_t least = ald_kind_ttl(path->is_rdma ? ALD_KIND_LINK_RDMA : ALD_KIND_LINK_SOCKET);
        uint64_t stated = path->edge->time_to_live_usec;

        return stated == ALD_ABSENT_UINT64 ? least : MAX(stated, least);
}

/* Returns whether the paths were measured within one time to live: that of the lower rate, since the prober
 * of the higher one, which may be overstated, must not decide for how long it is compared. */
static bool is_same_time(const AldPlanPath *a, const AldPlanPath *b)
{
        const AldPlanPath *low = a->edge->bits_per_second < b->edge->bits_per_second ? a : b;
        uint64_t first = MIN(a->edge->measured_usec, b->edge->measured_usec);
        uint64_t last = MAX(a->edge->measured_usec, b->edge->measured_usec);

        return last - first <= ttl_of(low);
}

/* Full measurements that are some minutes apart also differ by a few percent. */
static bool is_higher(const AldEdgeRow *high, const AldEdgeRow *low)
{
        return ald_link_rate_least(high->bits_per_second, high->interval) >
                       ald_link_rate_most(low->bits_per_second, low->interval) &&
               (double) high->bits_per_second >
                       (double) low->bits_per_second * (1 + ALD_LINK_AGREE_PERCENT / 100);
}

static void lower_rate(AldPlanPath *high, const AldPlanPath *low)
{
        high->bits_per_second = fmin(high->bits_per_second, (double) low->edge->bits_per_second);
        high->disputed_bits_per_second = fmax(
                high->disputed_bits_per_second, (double) high->edge->bits_per_second);
}

static void settle_pair(AldPlanPath *a, AldPlanPath *b)
{
        AldPlanPath *high = is_higher(a->edge, b->edge) ? a : is_higher(b->edge, a->edge) ? b : NULL;
        AldPlanPath *low = high == a ? b : a;

        if (!high)
                return;
        lower_rate(high, low);
        low->disputed_bits_per_second = fmax(
                low->disputed_bits_per_second, (double) high->edge->bits_per_second);
}

/* Takes ownership of the key, which may be NULL. */
static void add_measured(GHashTable *measured, char *key, AldPlanPath *path)
{
        GPtrArray *paths = key ? g_hash_table_lookup(measured, key) : NULL;

        if (paths || !key) {
                g_free(key);
        } else {
                paths = g_ptr_array_new();
                g_hash_table_insert(measured, key, paths);
        }
        if (paths)
                g_ptr_array_add(paths, path);
}

/* Sorts paths by rate, independently of which prober has more paths and of the order of records. */
static gint compare_rates(gconstpointer a, gconstpointer b)
{
        const AldPlanPath *first = *(AldPlanPath *const *) a, *second = *(AldPlanPath *const *) b;
        uint64_t rate = first->edge->bits_per_second, other = second->edge->bits_per_second;

        if (rate != other)
                return rate < other ? -1 : 1;
        return (first > second) - (first < second);
}

/* Compares the path with the slowest paths that the other end measured between the same ports. Returns
 * whether it measured any at the same time. */
static bool settle_by_ports(GHashTable *measured, AldPlanPath *path)
{
        g_autofree char *key = ports_key(path, !is_by_source(path->edge));
        const GPtrArray *others = key ? g_hash_table_lookup(measured, key) : NULL;
        bool found = false;

        for (guint i = 0; others && i < MIN(others->len, COMPARED_MAX); i++)
                if (is_same_time(path, others->pdata[i])) {
                        settle_pair(path, others->pdata[i]);
                        found = true;
                }
        return found;
}

/* Limits a path that the other end does not know to the best rate which that end measured at the same time,
 * since the names of ports are only what the prober states. */
static void settle_by_nodes(GHashTable *measured, AldPlanPath *path)
{
        g_autofree char *key = nodes_key(path, !is_by_source(path->edge));
        const GPtrArray *others = g_hash_table_lookup(measured, key);

        for (guint i = 0; others && i < MIN(others->len, COMPARED_MAX); i++) {
                const AldPlanPath *best = others->pdata[others->len - 1 - i];

                if (!is_same_time(path, best))
                        continue;
                if (is_higher(path->edge, best->edge))
                        lower_rate(path, best);
                return;
        }
}

static bool is_measured(const AldPlanPath *path)
{
        return path->edge && path->edge->prober && path->edge->measured_usec != ALD_ABSENT_UINT64;
}

static void free_paths(gpointer paths)
{
        g_ptr_array_unref(paths);
}

void ald_plan_disputes_settle(GArray *paths)
{
        g_autoptr(GHashTable) measured = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_paths);
        GHashTableIter iter;
        gpointer found;

        for (guint i = 0; i < paths->len; i++) {
                AldPlanPath *path = &g_array_index(paths, AldPlanPath, i);

                if (!is_measured(path))
                        continue;
                add_measured(measured, ports_key(path, is_by_source(path->edge)), path);
                add_measured(measured, nodes_key(path, is_by_source(path->edge)), path);
        }
        g_hash_table_iter_init(&iter, measured);
        while (g_hash_table_iter_next(&iter, NULL, &found))
                g_ptr_array_sort(found, compare_rates);
        for (guint i = 0; i < paths->len; i++) {
                AldPlanPath *path = &g_array_index(paths, AldPlanPath, i);

                if (is_measured(path) && !settle_by_ports(measured, path))
                        settle_by_nodes(measured, path);
        }
}
