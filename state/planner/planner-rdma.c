/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record-key.h"
#include "state/link/probe-bytes.h"
#include "state/planner/planner-private.h"
#include "state/topology/port-pairs.h"
#include "state/topology/rdma-problem.h"

/* The path of the control connection; its address is empty if there is none. */
typedef struct Control {
        char address[ALD_ADDRESS_STRING_SIZE];
        const char *interface; /* NULL unless it must be given */
} Control;

typedef struct RdmaPlanner {
        AldPlanner *planner;
        const AldFabric *own;
        GHashTable
                *controls; /* each peer that may be measured (const AldNode) → Control, NULL until needed */
        GHashTable *interfaces; /* name of a port of ours → AldInterface */
} RdmaPlanner;

static const AldLinkRdma *find_rdma_row(
        AldStore *store, const AldId *source, const char *port, const AldId *sink, const char *sink_port)
{
        char key[ALD_KEY_MAX + 1], id[ALD_ID_STRING_SIZE];
        const AldEntry *entry;

        if (g_snprintf(key, sizeof key, "%s,%s,%s", port, ald_id_format(sink, id), sink_port) >
                (int) ALD_KEY_MAX)
                return NULL;
        entry = ald_store_find(store, source, ALD_KIND_LINK_RDMA, key);
        return entry ? ald_record_as(entry->record, LINK_RDMA, AldLinkRdma) : NULL;
}

static AldAttempts attempts_of(const AldLinkRdma *row)
{
        return row ? (AldAttempts){ row->measured_usec, row->failed_usec, row->failures, false }
                   : ALD_ATTEMPTS_NONE;
}

typedef enum ControlRank {
        CONTROL_FAILING,
        CONTROL_UNTRIED,
        CONTROL_WORKING,
} ControlRank;

static ControlRank rank_control(const AldLinkSocket *row)
{
        if (!row)
                return CONTROL_UNTRIED;
        return ald_path_failures(row) > 0 ? CONTROL_FAILING : CONTROL_WORKING;
}

/* Compares two paths for the control connection: by their ranks, and of two that work, by their rates. */
static bool is_better(const AldLinkSocket *row, const AldLinkSocket *best)
{
        ControlRank rank = rank_control(row), best_rank = rank_control(best);

        if (rank != best_rank || rank != CONTROL_WORKING)
                return rank > best_rank;
        return row->upload.bits_per_second != ALD_ABSENT_UINT64 &&
               (best->upload.bits_per_second == ALD_ABSENT_UINT64 ||
                       row->upload.bits_per_second > best->upload.bits_per_second);
}

static Control *choose_control(const AldPlanner *planner, const AldNode *peer)
{
        const AldNetwork *network = ald_node_as(peer, NETWORK, AldNetwork);
        g_autoptr(GArray) candidates = network ? ald_candidates_compute(planner->own, network) : NULL;
        const AldLinkSocket *best = NULL;
        Control *control = g_new0(Control, 1);

        for (guint i = 0; candidates && i < candidates->len; i++) {
                const AldCandidate *candidate = &g_array_index(candidates, AldCandidate, i);
                const AldLinkSocket *row = ald_path_find_row(
                        planner->store, &planner->node->id, &peer->id, candidate->address);

                if (*control->address && !is_better(row, best))
                        continue;
                best = row;
                g_strlcpy(control->address, candidate->address, sizeof control->address);
                control->interface = candidate->link_local ? ald_candidate_choose(candidate, row)->id : NULL;
        }
        return control;
}

/* Sets the path of the control connection, the same for all ports of a peer. Returns false if there is none.
 * */
static bool find_control(RdmaPlanner *rdma, const AldNode *peer, AldDueProbe *probe)
{
        Control *control = g_hash_table_lookup(rdma->controls, peer);

        if (!control) {
                control = choose_control(rdma->planner, peer);
                g_hash_table_insert(rdma->controls, (gpointer) peer, control);
        }
        memcpy(probe->address, control->address, sizeof probe->address);
        probe->interface = control->interface;
        return *control->address;
}

/* Returns the interface that the port uses; a placeholder for the port if it has none. */
static const AldInterface *interface_of(RdmaPlanner *rdma, const AldRdmaPort *port)
{
        const AldInterface *known = port->interface ? ald_rows_find(&rdma->planner->own->interfaces,
                                                              port->interface)
                                                    : NULL;
        AldInterface *placeholder;

        if (!known)
                known = g_hash_table_lookup(rdma->interfaces, port->id);
        if (known)
                return known;
        placeholder = g_new(AldInterface, 1);
        *placeholder = (AldInterface) ALD_INTERFACE_INIT;
        placeholder->id = port->interface ?: port->id;
        placeholder->speed_bits_per_second = port->rate_bits_per_second;
        g_ptr_array_add(rdma->planner->placeholders, placeholder);
        g_hash_table_insert(rdma->interfaces, (gpointer) port->id, placeholder);
        return placeholder;
}

static bool is_deferred(const RdmaPlanner *rdma, const AldNode *peer, const char *own, const char *theirs)
{
        char id[ALD_ID_STRING_SIZE];
        g_autofree char *key = g_strdup_printf("%s,%s,%s", own, ald_id_format(&peer->id, id), theirs);

        return g_hash_table_contains(rdma->planner->deferred, key);
}

/* Returns whether this node measures the pair. Of two nodes, the one with the lower id does, unless it
 * cannot. */
static bool is_ours(const RdmaPlanner *rdma, const AldNode *peer, const char *own, const char *theirs)
{
        const AldPlanner *planner = rdma->planner;
        const AldAttempts attempts = attempts_of(
                find_rdma_row(planner->store, &peer->id, theirs, &planner->node->id, own));

        return ald_id_compare(&planner->node->id, &peer->id) < 0 ||
               !ald_probe_policy_starts(peer, ALD_KIND_LINK_RDMA) ||
               ald_attempts_failures(&attempts) >= ALD_FAILURES_GIVE_UP;
}

static bool may_load(const AldPlanner *planner, const AldNode *node, const AldAttempts *attempts)
{
        return ald_probe_policy_allows(node, ALD_LINK_SCOPE_FULL) ||
               (attempts->measured_usec == ALD_ABSENT_UINT64 &&
                       ald_probe_policy_allows_first(node, planner->input->now_realtime));
}

static void add_due_pair(RdmaPlanner *rdma, const AldNode *peer, const char *own, const char *theirs)
{
        AldPlanner *planner = rdma->planner;
        const AldRdmaPort *port = ald_rows_find(&rdma->own->rdma_ports, own);
        const AldRdmaPort *other = ald_rows_find(&ald_node_as(peer, FABRIC, AldFabric)->rdma_ports, theirs);
        const AldLinkRdma *row = find_rdma_row(planner->store, &planner->node->id, own, &peer->id, theirs);
        const AldAttempts attempts = attempts_of(row);
        g_autofree char *path = g_strdup_printf("%s,%s", own, theirs);
        AldDue due = { .rank = ALD_RANK_RDMA, .deadline = ALD_ABSENT_UINT64 };
        AldPathState state;

        if (!is_ours(rdma, peer, own, theirs) || is_deferred(rdma, peer, own, theirs) ||
                !may_load(planner, planner->node, &attempts) || !may_load(planner, peer, &attempts))
                return;
        due.seed = ald_path_seed(&planner->node->id, &peer->id, path);
        state = ald_attempts_state(&attempts, due.seed,
                row && row->time_to_live_usec != ALD_ABSENT_UINT64 ? row->time_to_live_usec
                                                                   : ald_kind_ttl(ALD_KIND_LINK_RDMA),
                planner->input->now_realtime);
        due.probe = (AldDueProbe){
                .kind = ALD_KIND_LINK_RDMA,
                .peer = peer->id,
                .source_port = port->id,
                .sink_port = other->id,
                .despite_work = !ald_probe_policy_allows(planner->node, ALD_LINK_SCOPE_FULL) ||
                                !ald_probe_policy_allows(peer, ALD_LINK_SCOPE_FULL),
                .reason = state.reason,
                .since = state.since,
        };
        if (!state.due || !find_control(rdma, peer, &due.probe))
                return;
        due.interface = interface_of(rdma, port);
        due.measured_usec = attempts.measured_usec;
        due.waits_since = state.since;
        due.bytes = ald_rdma_probe_bytes(row, MIN(port->rate_bits_per_second, other->rate_bits_per_second));
        g_array_append_val(planner->due, due);
}

static void on_port_pair(const AldPortPair *pair, void *userdata)
{
        RdmaPlanner *rdma = userdata;

        if (g_hash_table_contains(rdma->controls, pair->peer))
                add_due_pair(rdma, pair->peer, pair->own, pair->theirs);
}

static bool has_usable_port(const AldPlanner *planner, const AldFabric *fabric)
{
        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++)
                if (ald_rdma_port_is_usable(planner->own, ald_rows_at(&fabric->rdma_ports, i)))
                        return true;
        return false;
}

void ald_planner_rdma(AldPlanner *planner)
{
        g_autoptr(GHashTable) controls = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        g_autoptr(GHashTable) interfaces = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) segments = NULL, nodes = NULL;
        RdmaPlanner rdma = {
                .planner = planner,
                .own = ald_node_as(planner->node, FABRIC, AldFabric),
                .controls = controls,
                .interfaces = interfaces,
        };

        if (!has_usable_port(planner, rdma.own))
                return;
        for (guint i = 0; i < planner->peers->len; i++)
                g_hash_table_insert(controls, planner->peers->pdata[i], NULL);
        /* All peers of the period count, so that peers that are avoided for a moment do not change the pairs.
         */
        nodes = g_ptr_array_copy(planner->sample, NULL, NULL);
        g_ptr_array_add(nodes, planner->node);
        segments = ald_segments_compute(planner->store, nodes, NULL);
        ald_port_pairs_foreach(segments, planner->node, on_port_pair, &rdma);
}
