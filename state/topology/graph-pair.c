/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/link/link.h"
#include "state/link/path-end.h"
#include "state/topology/graph-pair.h"

static const AldGraphPath *path_at(const AldGraphPair *pair, guint i)
{
        return pair->paths->pdata[i];
}

/* Returns whether one figure is better than the other. One that did not fail since is better; if both are
 * equal, the keys decide, so that the order of the paths does not matter. */
static bool is_better(const AldGraphBest *one, const AldGraphBest *other, bool less)
{
        if (one->value == ALD_ABSENT_UINT64)
                return false;
        if (!other->path)
                return true;
        if (one->failing != other->failing)
                return other->failing;
        if (one->value != other->value)
                return (one->value < other->value) == less;
        return strcmp(one->path->key, other->path->key) < 0;
}

static void find_best_rate(const AldGraphPath *path, const AldLink *link, bool reverse, AldGraphBest *best)
{
        const AldGraphBest is = {
                .path = path,
                .reverse = reverse,
                .failing = ald_link_has_failed(link),
                .value = link->directions[reverse].bits_per_second,
                .measured_usec = link->measured_usec,
        };

        if (is_better(&is, best, false))
                *best = is;
}

static uint64_t rtt_time(const AldGraphPath *path, const AldLink *link)
{
        const AldLinkSocket *socket = path->kind == ALD_EDGE_ROW_KIND_SOCKET
                                              ? ald_record_as(path->entry->record, LINK_SOCKET, AldLinkSocket)
                                              : NULL;

        return socket && socket->rtt_measured_usec != ALD_ABSENT_UINT64 ? socket->rtt_measured_usec
                                                                        : link->measured_usec;
}

static void find_best(AldGraphPair *pair, const AldGraphPath *path)
{
        const AldLink link = ald_link_of_record(path->entry->record);
        bool reverse = !ald_id_equal(&path->source, &pair->ids[0]);
        const AldGraphBest rtt = {
                .path = path,
                .reverse = reverse,
                .failing = ald_link_has_failed(&link),
                .value = link.rtt_p50_nsec,
                .measured_usec = rtt_time(path, &link),
        };

        if (!ald_graph_path_has_moved(path)) {
                find_best_rate(path, &link, reverse, &pair->to_peer);
                find_best_rate(path, &link, !reverse, &pair->from_peer);
        }
        if (is_better(&rtt, &pair->rtt, true))
                pair->rtt = rtt;
}

/* Ranks the presence of a path in the order in which the row lists them. */
static int rank_of(const AldGraphPath *path)
{
        return ald_node_pair_row_presence_from_string(ald_edge_row_presence_to_string(path->presence));
}

static const AldGraphPath *find_most_present(const AldGraphPair *pair)
{
        const AldGraphPath *found = path_at(pair, 0);

        for (guint i = 1; i < pair->paths->len; i++) {
                const AldGraphPath *path = path_at(pair, i);
                int r = rank_of(path) - rank_of(found);

                if (r == 0)
                        r = (int) path->kind - (int) found->kind;
                if (r == 0)
                        r = strcmp(path->key, found->key);
                if (r < 0)
                        found = path;
        }
        return found;
}

static void list_kinds(AldGraphPair *pair)
{
        size_t n = 0;

        for (AldEdgeRowKind kind = 0; kind < ALD_EDGE_ROW_KIND_N; kind++)
                for (guint i = 0; i < pair->paths->len; i++)
                        if (path_at(pair, i)->kind == kind) {
                                pair->kinds[n++] = ald_edge_row_kind_to_string(kind);
                                break;
                        }
        pair->kinds[n] = NULL;
}

/* Returns the path with the best rate in either direction, else that with the least round trip, or NULL. */
static const AldGraphPath *find_typical(const AldGraphPair *pair)
{
        if (pair->to_peer.path && (!pair->from_peer.path || pair->to_peer.value >= pair->from_peer.value))
                return pair->to_peer.path;
        return pair->from_peer.path ?: pair->rtt.path;
}

void ald_graph_pair_compute(AldGraphPair *pair)
{
        static const AldGraphBest none;
        const AldGraphPath *present = find_most_present(pair), *typical;

        pair->to_peer = pair->from_peer = pair->rtt = none;
        pair->presence = present->presence;
        list_kinds(pair);
        for (guint i = 0; i < pair->paths->len; i++) {
                const AldGraphPath *path = path_at(pair, i);

                if (path->entry && path->presence == present->presence &&
                        (path->presence == ALD_EDGE_ROW_PRESENCE_LIVE ||
                                path->presence == ALD_EDGE_ROW_PRESENCE_STALE))
                        find_best(pair, path);
        }
        typical = find_typical(pair) ?: present;
        pair->type = typical->transport ?: ald_path_type(typical->ends[0].type, typical->ends[1].type);
}

void ald_graph_pair_describe(const AldGraphPair *pair, AldGraphSpace *space, AldNodePairRow *ret)
{
        const AldGraphBest *there = &pair->to_peer, *back = &pair->from_peer, *rtt = &pair->rtt;

        *ret = *(const AldNodePairRow *) ald_node_pair_row_struct.absent;
        ret->node = ald_id_format(&pair->ids[0], space->source);
        ret->peer = ald_id_format(&pair->ids[1], space->sink);
        ret->presence = ald_edge_row_presence_to_string(pair->presence);
        ret->kinds = pair->kinds;
        ret->type = pair->type;
        if (there->path) {
                ret->to_peer_bits_per_second = there->value;
                ret->to_peer_edge = there->path->edges[there->reverse];
                ret->to_peer_measured_usec = there->measured_usec;
        }
        if (back->path) {
                ret->from_peer_bits_per_second = back->value;
                ret->from_peer_edge = back->path->edges[back->reverse];
                ret->from_peer_measured_usec = back->measured_usec;
        }
        if (rtt->path) {
                ret->rtt_p50_nsec = rtt->value;
                ret->rtt_edge = rtt->path->edges[rtt->reverse];
                ret->rtt_measured_usec = rtt->measured_usec;
        }
}
