/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/key.h"
#include "state/network.h"
#include "state/peer-sample.h"
#include "state/planner-private.h"
#include "state/planner-rdma.h"

#define USEC_PER_MINUTE (UINT64_C(60) * 1000 * 1000)

/* Above a tenth of what it can carry an interface is left to those who work. */
#define BUSY_SHARE 10u

static const uint64_t ttls[ALD_N_KINDS] = {
        [ALD_KIND_COMPUTE] = 60 * USEC_PER_MINUTE,
        [ALD_KIND_LINK_SOCKET] = 5 * USEC_PER_MINUTE,
        [ALD_KIND_LINK_RDMA] = 6 * 60 * USEC_PER_MINUTE,
};

uint64_t ald_planner_ttl(AldKind kind)
{
        return ttls[kind];
}

static const AldNetwork *network_of(const AldNode *node)
{
        return ald_record_as(ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);
}

const AldLinkSocket *ald_planner_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address)
{
        char key[ALD_KEY_MAX + 1], id[ALD_ID_STRING_SIZE];
        const AldEntry *entry;

        g_snprintf(key, sizeof key, "%s,%s", ald_id_format(sink, id), address);
        entry = ald_store_find(store, source, ALD_KIND_LINK_SOCKET, key);
        return entry ? ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket) : NULL;
}

/* Whether the peer, whose part it would be, has tried all its paths over these interfaces in vain. */
static bool peer_cannot(
        const AldPlanner *planner, const AldNode *peer, GArray *theirs, const AldCandidate *ours)
{
        for (guint i = 0; i < theirs->len; i++) {
                const AldCandidate *candidate = &g_array_index(theirs, AldCandidate, i);
                const AldLinkSocket *row;

                if (!ald_candidate_mirrors(candidate, ours))
                        continue;
                row = ald_planner_find_row(planner->store, &peer->id, &planner->node->id, candidate->address);
                if (!row || ald_path_failures(row) < ALD_FAILURES_GIVE_UP)
                        return false;
        }
        return true;
}

/* Where a route decides: the interface that it chose the last time. */
static const AldInterface *interface_for(
        const AldPlanner *planner, const AldCandidate *candidate, const AldLinkSocket *row)
{
        if (candidate->interface || !row || !row->source_interface)
                return ald_candidate_choose(candidate, row);
        return ald_rows_find(&planner->own->interfaces, row->source_interface);
}

bool ald_planner_is_put_off(const AldPlanner *planner, const char *key)
{
        return g_hash_table_contains(planner->put_off, key);
}

static bool is_put_off(const AldPlanner *planner, const AldNode *peer, const char *address)
{
        char key[ALD_KEY_MAX + 1], id[ALD_ID_STRING_SIZE];

        g_snprintf(key, sizeof key, "%s,%s", ald_id_format(&peer->id, id), address);
        return ald_planner_is_put_off(planner, key);
}

static void consider(AldPlanner *planner, const AldNode *peer, const AldCandidate *candidate)
{
        const AldLinkSocket *row = ald_planner_find_row(
                planner->store, &planner->node->id, &peer->id, candidate->address);
        uint64_t seed = ald_path_seed(&planner->node->id, &peer->id, candidate->address);
        AldPathState state = ald_path_judge(
                row, seed, ttls[ALD_KIND_LINK_SOCKET], planner->input->now_realtime);
        AldDue due = {
                .probe = { .kind = ALD_KIND_LINK_SOCKET,
                        .peer = peer->id,
                        .reason = state.reason,
                        .since = state.since },
                .interface = interface_for(planner, candidate, row),
                .put_off = is_put_off(planner, peer, candidate->address),
                .rank = candidate->link_local ? ALD_RANK_LINK_LOCAL : ALD_RANK_SOCKET,
                .seed = seed,
        };

        if (!state.due)
                return;
        if (due.interface)
                due.probe.interface = due.interface->id;
        due.bytes = ald_probe_bytes(
                row, due.interface, candidate->sink_interface, ald_loads_find(planner->loads, due.interface));
        g_strlcpy(due.probe.address, candidate->address, sizeof due.probe.address);
        g_array_append_val(planner->due, due);
}

static void consider_peer(AldPlanner *planner, const AldNode *peer)
{
        bool first = ald_id_compare(&planner->node->id, &peer->id) < 0;
        const AldNetwork *network = network_of(peer);
        g_autoptr(GArray) ours = NULL, theirs = NULL;

        if (!network)
                return;
        ours = ald_candidates_compute(planner->own, network);
        if (!first)
                theirs = ald_candidates_compute(network, planner->own);
        for (guint i = 0; i < ours->len; i++) {
                const AldCandidate *candidate = &g_array_index(ours, AldCandidate, i);

                if (first || peer_cannot(planner, peer, theirs, candidate))
                        consider(planner, peer, candidate);
        }
}

static bool is_avoided(const AldPlannerInput *input, const AldId *peer)
{
        for (size_t i = 0; i < input->n_avoid; i++)
                if (ald_id_equal(&input->avoid[i], peer))
                        return true;
        return false;
}

static void drop_avoided(GPtrArray *peers, const AldPlannerInput *input)
{
        for (guint i = peers->len; i > 0; i--)
                if (is_avoided(input, &((const AldNode *) peers->pdata[i - 1])->id))
                        g_ptr_array_remove_index(peers, i - 1);
}

/* What was put off comes last. Else what was never measured comes first, link-local paths later, RDMA last;
 * then what waits longest. */
static int compare_due(gconstpointer a, gconstpointer b)
{
        const AldDue *left = a, *right = b;
        bool left_waits = left->probe.reason >= ALD_DUE_EXPIRED;
        bool right_waits = right->probe.reason >= ALD_DUE_EXPIRED;
        uint64_t x = left->probe.since, y = right->probe.since;
        int r = left->put_off - right->put_off;

        if (r == 0 && (!left_waits || !right_waits))
                r = (int) left->probe.reason - (int) right->probe.reason;
        if (r == 0 && !left_waits)
                r = (int) left->rank - (int) right->rank;
        if (r == 0)
                r = x < y ? -1 : x > y;
        return r != 0 ? r : left->seed < right->seed ? -1 : left->seed > right->seed;
}

static uint64_t traffic_of(const AldPlannerInput *input, const AldInterface *interface)
{
        for (size_t i = 0; i < input->n_traffic; i++)
                if (strcmp(input->traffic[i].interface, interface->id) == 0)
                        return input->traffic[i].bits_per_second;
        return 0;
}

/* Where no speed is known, the greatest rate that was measured tells. */
static bool is_busy(const AldPlannerInput *input, const AldInterface *interface, const AldLoad *load)
{
        uint64_t traffic = traffic_of(input, interface), speed = interface->speed_bits_per_second;

        if (speed == ALD_ABSENT_UINT64)
                speed = load->rate;
        return traffic == ALD_TRAFFIC_BLOCKED || (speed > 0 && traffic > speed / BUSY_SHARE);
}

static bool is_free(AldPlanner *planner, const AldDue *due)
{
        const AldLoad *load = ald_loads_find(planner->loads, due->interface);
        const AldInterface *carrier = due->interface ? ald_network_find_carrier(planner->own, due->interface)
                                                     : NULL;
        uint64_t bytes_per_hour = planner->input->bytes_per_hour;

        if (bytes_per_hour == 0)
                bytes_per_hour = ald_load_bytes_per_hour(load, carrier);
        if (!ald_load_has_room(load, due->bytes, bytes_per_hour))
                return false;
        if (!due->interface)
                return true;
        return !is_busy(planner->input, due->interface, load) && !is_busy(planner->input, carrier, load);
}

static bool share_carrier(const AldPlanner *planner, const AldDue *a, const AldDue *b)
{
        return !a->interface || !b->interface ||
               ald_network_find_carrier(planner->own, a->interface) ==
                       ald_network_find_carrier(planner->own, b->interface);
}

/* One of which the interface is not known could meet any other, so it goes alone. */
static bool collides(const AldPlanner *planner, const AldDue *due)
{
        for (guint i = 0; i < planner->chosen->len; i++) {
                const AldDue *other = &g_array_index(planner->chosen, AldDue, i);

                if (ald_id_equal(&other->probe.peer, &due->probe.peer) || share_carrier(planner, other, due))
                        return true;
        }
        return false;
}

static GArray *choose(AldPlanner *planner)
{
        GArray *probes = g_array_new(FALSE, FALSE, sizeof(AldDueProbe));

        g_array_sort(planner->due, compare_due);
        for (guint i = 0; i < planner->due->len && planner->chosen->len < planner->input->max; i++) {
                const AldDue *due = &g_array_index(planner->due, AldDue, i);

                if (collides(planner, due) || !is_free(planner, due))
                        continue;
                g_array_append_vals(planner->chosen, due, 1);
                g_array_append_val(probes, due->probe);
        }
        return probes;
}

GArray *ald_planner_compute(AldStore *store, const AldPlannerInput *input)
{
        g_autoptr(GArray) due = g_array_new(FALSE, FALSE, sizeof(AldDue));
        g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(AldDue));
        AldNode *node = ald_store_local_node(store);
        g_autoptr(GPtrArray) sample = NULL, peers = NULL;
        g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) put_off = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(AldLoads) loads = NULL;
        AldPlanner planner = {
                .store = store,
                .input = input,
                .node = node,
                .own = network_of(node),
                .due = due,
                .chosen = chosen,
                .put_off = put_off,
                .made = made,
        };

        if (!planner.own)
                return g_array_new(FALSE, FALSE, sizeof(AldDueProbe));
        planner.loads = loads = ald_loads_new(store, planner.own, input);
        planner.sample = sample = ald_peer_sample_compute(
                store, input->now_realtime, ttls[ALD_KIND_LINK_SOCKET]);
        planner.peers = peers = g_ptr_array_copy(sample, NULL, NULL);
        drop_avoided(peers, input);
        for (size_t i = 0; i < input->n_avoid_paths; i++)
                g_hash_table_add(put_off, (gpointer) input->avoid_paths[i]);
        for (guint i = 0; i < peers->len && !input->without[ALD_KIND_LINK_SOCKET]; i++)
                consider_peer(&planner, peers->pdata[i]);
        if (!input->without[ALD_KIND_LINK_RDMA])
                ald_planner_rdma(&planner);
        return choose(&planner);
}
