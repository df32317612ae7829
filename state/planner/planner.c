/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record-key.h"
#include "state/link/link-quality.h"
#include "state/link/path-end.h"
#include "state/link/peer-sample.h"
#include "state/link/probe-bytes.h"
#include "state/planner/planner-private.h"
#include "state/results/link-result.h"

/* Returns whether the peer, which would be responsible, has failed on all its paths over these interfaces. */
static bool peer_has_given_up(
        const AldPlanner *planner, const AldNode *peer, GArray *theirs, const AldCandidate *ours)
{
        for (guint i = 0; i < theirs->len; i++) {
                const AldCandidate *candidate = &g_array_index(theirs, AldCandidate, i);
                const AldLinkSocket *row;

                if (!ald_candidate_mirrors(candidate, ours))
                        continue;
                row = ald_path_find_row(planner->store, &peer->id, &planner->node->id, candidate->address);
                if (!row || ald_path_failures(row) < ALD_FAILURES_GIVE_UP)
                        return false;
        }
        return true;
}

/* Returns the interface of a path; if a route decides, the one that it chose the last time. */
static const AldInterface *interface_for(
        const AldPlanner *planner, const AldCandidate *candidate, const AldLinkSocket *row)
{
        if (candidate->interface || !row || !row->source_interface)
                return ald_candidate_choose(candidate, row);
        return ald_rows_find(&planner->own->interfaces, row->source_interface);
}

static bool is_deferred(const AldPlanner *planner, const AldNode *peer, const char *address)
{
        char key[ALD_KEY_MAX + 1], id[ALD_ID_STRING_SIZE];

        g_snprintf(key, sizeof key, "%s,%s", ald_id_format(&peer->id, id), address);
        return g_hash_table_contains(planner->deferred, key);
}

/* Returns whether the first of two paths over the same pair of interfaces is measured at full rate. */
static bool is_preferred(
        const AldPlannerPath *path, guint index, const AldPlannerPath *other, guint other_index)
{
        bool fails = ald_path_failures(path->row) > 0, other_fails = ald_path_failures(other->row) > 0;

        return fails != other_fails ? other_fails : index < other_index;
}

static void mark_shared(AldPlannerPath *paths, guint n)
{
        for (guint i = 0; i < n; i++)
                for (guint k = 0; k < n; k++)
                        if (i != k && paths[i].interface == paths[k].interface &&
                                paths[i].candidate.sink_interface == paths[k].candidate.sink_interface &&
                                !is_preferred(&paths[i], i, &paths[k], k))
                                paths[i].shared = true;
}

static void find_paths_to(AldPlanner *planner, const AldNode *peer)
{
        bool first = ald_id_compare(&planner->node->id, &peer->id) < 0;
        const AldNetwork *network = ald_node_as(peer, NETWORK, AldNetwork);
        guint before = planner->paths->len;
        g_autoptr(GArray) ours = NULL, theirs = NULL;

        if (!network || !ald_probe_policy_allows(peer, ALD_LINK_SCOPE_ROUND_TRIPS))
                return;
        first = first || !ald_probe_policy_starts(peer, ALD_KIND_LINK_SOCKET);
        ours = ald_candidates_compute(planner->own, network);
        if (!first)
                theirs = ald_candidates_compute(network, planner->own);
        for (guint i = 0; i < ours->len; i++) {
                const AldCandidate *candidate = &g_array_index(ours, AldCandidate, i);
                const AldLinkSocket *row = ald_path_find_row(
                        planner->store, &planner->node->id, &peer->id, candidate->address);
                const AldPlannerPath path = {
                        .peer = peer,
                        .candidate = *candidate,
                        .interface = interface_for(planner, candidate, row),
                        .row = row,
                        .seed = ald_path_seed(&planner->node->id, &peer->id, candidate->address),
                        .ours = first || peer_has_given_up(planner, peer, theirs, candidate),
                };

                g_array_append_val(planner->paths, path);
        }
        if (planner->paths->len > before)
                mark_shared(
                        &g_array_index(planner->paths, AldPlannerPath, before), planner->paths->len - before);
}

static uint64_t bytes_of(AldPlanner *planner, const AldPlannerPath *path)
{
        return ald_path_probe_bytes(path->row, path->interface, path->candidate.sink_interface,
                ald_loads_find(planner->loads, planner->node, path->interface));
}

/* Finds all paths, and counts those that are measured at full rate, whichever end measures them. In a large
 * cluster the peers of this period stand for those of all periods. */
static void find_paths(AldPlanner *planner)
{
        for (guint i = 0; i < planner->sample->len; i++)
                find_paths_to(planner, planner->sample->pdata[i]);
        for (guint i = 0; i < planner->paths->len; i++) {
                const AldPlannerPath *path = &g_array_index(planner->paths, AldPlannerPath, i);
                AldLoad *load = ald_loads_find(planner->loads, planner->node, path->interface);
                uint64_t bytes = path->shared ? 0 : bytes_of(planner, path);

                load->paths_bytes = ald_load_sum(load->paths_bytes, bytes * planner->n_periods);
                load->spots_bytes = ald_load_sum(load->spots_bytes, ald_spot_bytes(bytes));
        }
}

static AldTtlBounds bounds_of(const AldPlanner *planner, const AldInterface *interface)
{
        const AldShare share = ald_planner_share(planner, planner->node, interface);
        uint64_t all_peers = planner->n_periods > 1 ? planner->n_periods * ald_kind_ttl(ALD_KIND_LINK_SOCKET)
                                                    : 0;
        uint64_t fixed = ald_probe_policy_interval(planner->node);
        uint64_t least = MAX(MAX(share.least_interval, all_peers), fixed);

        return (AldTtlBounds){ least, fixed > 0 ? least : UINT64_MAX };
}

/* Returns false if anything at either end restricts the path to round trips. */
static bool may_be_loaded(const AldPlanner *planner, const AldPlannerPath *path)
{
        return !path->shared && ald_probe_may_load(planner->node, path->interface) &&
               ald_probe_may_load(path->peer, path->candidate.sink_interface);
}

/* Returns whether the path has no rate yet, and all that keeps it from being loaded is work for which a first
 * measurement no longer waits. */
static bool may_be_first(const AldPlanner *planner, const AldPlannerPath *path)
{
        uint64_t now = planner->input->now_realtime;

        return !path->shared && (!path->row || path->row->measured_usec == ALD_ABSENT_UINT64) &&
               ald_probe_may_load_first(planner->node, path->interface, now) &&
               ald_probe_may_load_first(path->peer, path->candidate.sink_interface, now);
}

static uint64_t checked_at(const AldLinkSocket *row)
{
        if (!row)
                return ALD_ABSENT_UINT64;
        return row->rtt_measured_usec != ALD_ABSENT_UINT64 ? row->rtt_measured_usec : row->measured_usec;
}

/* Returns the negotiated speed in the form recorded with the figures. */
static uint64_t speed_of(const AldPlanner *planner, const AldPlannerPath *path)
{
        const AldPathEnd own = ald_path_end_find(planner->own, ald_node_as(planner->node, FABRIC, AldFabric),
                path->row->source_interface, NULL);
        const AldPathEnd sink = ald_path_end_find(ald_node_as(path->peer, NETWORK, AldNetwork),
                ald_node_as(path->peer, FABRIC, AldFabric), path->row->sink_interface,
                path->candidate.address);

        return ald_path_speed(own.bits_per_second, sink.bits_per_second);
}

/* Returns whether the interface of the figures is gone, or the negotiated speed differs from the one at that
 * time, and the record is not marked as changed yet. */
static bool differs_from_figures(const AldPlanner *planner, const AldPlannerPath *path)
{
        return path->row && !path->row->changed && path->row->source_interface &&
               checked_at(path->row) != ALD_ABSENT_UINT64 &&
               checked_at(path->row) + ALD_PLANNER_TURN_USEC <= planner->input->now_realtime &&
               (!ald_rows_find(&planner->own->interfaces, path->row->source_interface) ||
                       ald_link_speed_changed(path->row, speed_of(planner, path)));
}

/* Returns true if the last check contradicted the record, so that a second one has to decide. */
static bool is_to_be_repeated(const AldPlanner *planner, const AldLinkSocket *row)
{
        uint64_t now = planner->input->now_realtime;

        return row && row->contradicted_usec != ALD_ABSENT_UINT64 && row->contradicted_usec <= now &&
               now - row->contradicted_usec < ALD_LINK_REPEAT_MOST_USEC &&
               checked_at(row) + ALD_LINK_REPEAT_USEC <= now;
}

/* Returns true if the last check should have found a rate as the one before, and has found none. */
static bool lacks_spots(const AldPlanner *planner, const AldPlannerPath *path)
{
        const AldLinkSocket *row = path->row;
        uint64_t now = planner->input->now_realtime, checked = checked_at(row);

        if (!row || row->last_spot_usec == ALD_ABSENT_UINT64 || row->last_spot_usec >= checked ||
                !may_be_loaded(planner, path) || planner->n_periods > 1)
                return false;
        return checked + ALD_LINK_SPOT_RETRY_USEC <= now &&
               now < row->last_spot_usec + ALD_LINK_SPOT_RETRY_MOST_USEC &&
               ald_planner_share(planner, planner->node, path->interface).spot_interval <=
                       ALD_LINK_CHECK_USEC;
}

/* Returns whether the next check is due. If the peers of a large cluster are sampled, a path is checked once
 * in each period of its peer. */
static AldPathState check_state(const AldPlanner *planner, const AldPlannerPath *path)
{
        AldAttempts attempts = ald_path_attempts(path->row);
        uint64_t checked = checked_at(path->row), interval = 0;
        AldPathState state;

        if (checked != ALD_ABSENT_UINT64)
                interval = planner->n_periods > 1 ? ALD_LINK_CHECK_USEC
                                                  : ald_link_check_due(checked, path->seed) - checked;
        attempts.measured_usec = checked;
        attempts.routed = !path->candidate.on_link;
        state = ald_attempts_state(&attempts, path->seed, interval, planner->input->now_realtime);
        /* A path that was never checked, or whose check has failed, is due or waits for reasons of its own.
         */
        if (state.due || state.reason != ALD_DUE_EXPIRED)
                return state;
        if (is_to_be_repeated(planner, path->row))
                return (AldPathState){ true, ALD_DUE_CHANGED, path->row->contradicted_usec };
        if (lacks_spots(planner, path))
                return (AldPathState){ true, ALD_DUE_EXPIRED, checked + ALD_LINK_SPOT_RETRY_USEC };
        if (differs_from_figures(planner, path))
                return (AldPathState){ true, ALD_DUE_CHANGED, ALD_ABSENT_UINT64 };
        return state;
}

static uint64_t shown_ttl(const AldPlanner *planner, const AldPlannerPath *path)
{
        const AldTtlBounds bounds = bounds_of(planner, path->interface);

        return ald_link_ttl_bound(path->row->time_to_live_usec, ald_kind_ttl(ALD_KIND_LINK_SOCKET),
                path->seed, path->row->measured_usec, &bounds);
}

/* Returns whether the limit of what may be sent decides when the path is measured again, rather than its
 * figures. */
static bool is_full_plan(const AldPlanner *planner, const AldPlannerPath *path)
{
        const AldShare share = ald_planner_share(planner, planner->node, path->interface);

        return path->row->time_to_live_usec != ALD_ABSENT_UINT64 && share.least_interval > 0 &&
               ald_link_ttl_interval(path->row->time_to_live_usec, path->seed, path->row->measured_usec) <=
                       share.least_interval + share.least_interval / 8;
}

/* Returns whether a measurement was just attempted: if its figures were not used, the next one waits for a
 * while. */
static bool was_just_attempted(const AldLinkSocket *row, uint64_t now)
{
        uint64_t pause = ald_link_awaits_measurement(row, now) ? ALD_LINK_CHANGE_RETRY_USEC
                                                               : ALD_LINK_ATTEMPT_PAUSE_USEC;

        if (row->attempted_usec == ALD_ABSENT_UINT64 || row->attempted_usec == row->measured_usec ||
                row->attempted_usec > now ||
                (row->changed_usec != ALD_ABSENT_UINT64 && row->changed_usec <= now &&
                        row->attempted_usec <= row->changed_usec))
                return false;
        return now - row->attempted_usec < pause;
}

/* Returns whether a full measurement is due. Past failures are ignored: they decide when the path is tried,
 * which check_state() says. */
static AldPathState full_state(const AldPlanner *planner, const AldPlannerPath *path)
{
        const AldLinkSocket *row = path->row;
        bool measured = row && row->measured_usec != ALD_ABSENT_UINT64;
        const AldAttempts attempts = { measured ? row->measured_usec : ALD_ABSENT_UINT64, ALD_ABSENT_UINT64,
                ALD_ABSENT_UINT64, false };
        uint64_t ttl = measured ? shown_ttl(planner, path) : 0;
        AldPathState state = ald_attempts_state(&attempts, path->seed, ttl, planner->input->now_realtime);

        /* A full plan measures whenever possible, so that none is late if many would be due together. */
        if (!state.due && measured && is_full_plan(planner, path))
                state.due = row->measured_usec + ttl - ttl / 4 <= planner->input->now_realtime;
        if (measured && row->changed && state.reason == ALD_DUE_EXPIRED)
                state = (AldPathState){ true, ALD_DUE_CHANGED, checked_at(row) };
        if (state.due && measured && state.reason >= ALD_DUE_CHANGED &&
                was_just_attempted(row, planner->input->now_realtime))
                state.due = false;
        return state;
}

static bool has_low_rate(const AldLinkSocket *row, uint64_t now)
{
        return ald_link_awaits_measurement(row, now) &&
               g_strcmp0(row->changed, ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_RATE)) == 0;
}

static gint compare_entries(gconstpointer a, gconstpointer b)
{
        const AldEntry *left = *(const AldEntry *const *) a, *right = *(const AldEntry *const *) b;
        int r = ald_id_compare(&left->node->id, &right->node->id);

        return r != 0 ? r : strcmp(left->key, right->key);
}

/* Another node may claim that something changes without end, or changed ahead of all clocks. */
static bool is_plausible_change(const AldLinkSocket *row, uint64_t now)
{
        return row->changed_usec != ALD_ABSENT_UINT64 && row->changed_usec <= now &&
               now - row->changed_usec < ALD_LINK_CHANGE_SHOWN_USEC;
}

static void find_low_paths_of(AldPlanner *planner, AldNode *node)
{
        uint64_t now = planner->input->now_realtime;

        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry)) {
                const AldLinkSocket *row;

                if (entry->kind != ALD_KIND_LINK_SOCKET || !entry->record)
                        continue;
                row = ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket);
                if (has_low_rate(row, now) && (node->local || is_plausible_change(row, now)))
                        g_ptr_array_add(planner->low, entry);
        }
}

/* Finds the low paths of all nodes of this period, in an order that is the same everywhere. */
static void find_low_paths(AldPlanner *planner)
{
        if (planner->low)
                return;
        planner->low = g_ptr_array_new();
        find_low_paths_of(planner, planner->node);
        for (guint i = 0; i < planner->sample->len; i++)
                find_low_paths_of(planner, planner->sample->pdata[i]);
        g_ptr_array_sort(planner->low, compare_entries);
}

/* Paths between other nodes use lines of their own, as far as is known. */
static bool may_share_line(const AldPlanner *planner, const AldPlannerPath *path, const AldEntry *entry)
{
        AldId sink;

        if (entry->node == planner->node || entry->node == path->peer)
                return true;
        return ald_key_parse(entry->kind, entry->key, &sink) >= 0 &&
               (ald_id_equal(&sink, &planner->node->id) || ald_id_equal(&sink, &path->peer->id));
}

/* Returns the number of low paths with which the path takes turns, including itself, and its place among
 * them. */
static uint64_t count_turns(const AldPlanner *planner, const AldPlannerPath *path, uint64_t *ret_place)
{
        const AldNode *source = NULL;
        uint64_t n = 0;
        unsigned of_source = 0;

        for (guint i = 0; i < planner->low->len; i++) {
                const AldEntry *entry = planner->low->pdata[i];

                if (!may_share_line(planner, path, entry))
                        continue;
                of_source = entry->node == source ? of_source + 1 : 1;
                source = entry->node;
                if (!source->local && of_source > ALD_PLANNER_TURNS_EACH)
                        continue;
                if (ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket) == path->row)
                        *ret_place = n;
                n++;
        }
        return n;
}

/* Low figures are measured again one at a time: if several paths share a line and were low because they were
 * measured together, they have normal figures then. */
static bool waits_for_its_turn(AldPlanner *planner, const AldPlannerPath *path)
{
        uint64_t now = planner->input->now_realtime, slot = now / ALD_PLANNER_TURN_USEC, n, place = 0;

        if (!path->row || !has_low_rate(path->row, now))
                return false;
        find_low_paths(planner);
        n = count_turns(planner, path, &place);
        return n > 1 && (slot % n != place || now % ALD_PLANNER_TURN_USEC >= ALD_PLANNER_TURN_START_USEC);
}

/* Returns whether the figures are missing or so old that disturbed ones are better. */
static bool is_overdue(const AldPlanner *planner, const AldPlannerPath *path)
{
        const AldPlannerInput *input = planner->input;

        if (!path->row || path->row->measured_usec == ALD_ABSENT_UINT64)
                return input->now - input->started >=
                       ALD_LINK_TTL_DISTURBED * ald_kind_ttl(ALD_KIND_LINK_SOCKET);
        return path->row->measured_usec + ALD_LINK_TTL_DISTURBED * shown_ttl(planner, path) <=
               input->now_realtime;
}

static void add_due(AldPlanner *planner, const AldPlannerPath *path, const AldPathState *state,
        const AldPathState *check, AldLinkScope scope)
{
        AldDue due = {
                .probe = { .kind = ALD_KIND_LINK_SOCKET,
                        .peer = path->peer->id,
                        .interface = path->interface ? path->interface->id : NULL,
                        .scope = scope,
                        .reason = state->reason,
                        .since = state->since },
                .interface = path->interface,
                .sink = path->peer,
                .sink_interface = path->candidate.sink_interface,
                .deferred = is_deferred(planner, path->peer, path->candidate.address),
                .rank = path->candidate.link_local            ? ALD_RANK_LINK_LOCAL
                        : scope == ALD_LINK_SCOPE_ROUND_TRIPS ? ALD_RANK_ROUND_TRIPS
                                                              : ALD_RANK_SOCKET,
                .waits_since = state->since,
                .measured_usec = path->row ? path->row->measured_usec : ALD_ABSENT_UINT64,
                .deadline = ALD_ABSENT_UINT64,
                .seed = path->seed,
        };

        if (scope == ALD_LINK_SCOPE_FULL) {
                due.waits_since = check->due ? MIN(state->since, check->since) : state->since;
                due.bytes = bytes_of(planner, path);
                due.deadline = due.measured_usec == ALD_ABSENT_UINT64
                                       ? ALD_ABSENT_UINT64
                                       : due.measured_usec + shown_ttl(planner, path);
                due.probe.despite_work = !may_be_loaded(planner, path);
                due.probe.overdue = due.probe.despite_work || is_overdue(planner, path);
                due.probe.brief = state->reason == ALD_DUE_CHANGED &&
                                  ald_link_awaits_measurement(path->row, planner->input->now_realtime);
        }
        g_strlcpy(due.probe.address, path->candidate.address, sizeof due.probe.address);
        g_array_append_val(planner->due, due);
}

/* Spot checks may have to be rarer than round trips. */
static AldLinkScope scope_of_check(const AldPlanner *planner, const AldPlannerPath *path)
{
        const char *route = ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ROUTE);
        const AldLinkSocket *row = path->row;
        uint64_t now = planner->input->now_realtime, interval, last;

        if (!may_be_loaded(planner, path) || !row || row->measured_usec == ALD_ABSENT_UINT64)
                return ALD_LINK_SCOPE_ROUND_TRIPS;
        /* A path that now goes over another interface has no figure that a spot check could be compared with.
         */
        if (g_strcmp0(row->changed, route) == 0)
                return ALD_LINK_SCOPE_ROUND_TRIPS;
        interval = ald_planner_share(planner, planner->node, path->interface).spot_interval;
        last = row->last_spot_usec != ALD_ABSENT_UINT64 ? row->last_spot_usec : row->confirmed_usec;
        if (last == ALD_ABSENT_UINT64 || last > now || interval <= ALD_LINK_CHECK_USEC ||
                is_to_be_repeated(planner, row))
                return ALD_LINK_SCOPE_CHECK;
        return now - last >= interval ? ALD_LINK_SCOPE_CHECK : ALD_LINK_SCOPE_ROUND_TRIPS;
}

/* If both are due, the full measurement is tried first, since it includes a check. */
static void add_due_probes(AldPlanner *planner, const AldPlannerPath *path)
{
        AldPathState full = full_state(planner, path), check = check_state(planner, path);
        bool failed = ald_path_failures(path->row) > 0;

        if (full.due && (may_be_loaded(planner, path) || may_be_first(planner, path)) &&
                (!failed || check.due) && !waits_for_its_turn(planner, path))
                add_due(planner, path, failed ? &check : &full, &check, ALD_LINK_SCOPE_FULL);
        if (check.due)
                add_due(planner, path, &check, &check, scope_of_check(planner, path));
}

static bool is_avoided(const AldPlannerInput *input, const AldId *peer)
{
        for (size_t i = 0; i < input->n_avoid; i++)
                if (ald_id_equal(&input->avoid[i], peer))
                        return true;
        return false;
}

static gboolean count_node(AldNode *node, void *userdata)
{
        *(size_t *) userdata += node->local || ald_node_is_online(node);
        return FALSE;
}

/* The first rates over an interface may be the only known ones. */
static void add_rates_of_result(AldPlanner *planner, const AldLinkSocket *row)
{
        const AldInterface *interface = planner->own && row->source_interface
                                                ? ald_rows_find(
                                                          &planner->own->interfaces, row->source_interface)
                                                : NULL;
        AldLoad *load = ald_loads_find(planner->loads, planner->node, interface);

        ald_load_add_rate(load, planner->node, row->upload.bits_per_second);
        ald_load_add_rate(load, planner->node, row->download.bits_per_second);
}

/* `result` is one that is not in the store yet, or NULL. */
static void planner_init(
        AldPlanner *planner, AldStore *store, const AldPlannerInput *input, const AldLinkSocket *result)
{
        size_t n = 0;

        *planner = (AldPlanner){ .store = store, .input = input, .node = ald_store_local_node(store) };
        planner->own = ald_node_as(planner->node, NETWORK, AldNetwork);
        planner->sample = ald_peer_sample_compute(
                store, input->now_realtime, ald_kind_ttl(ALD_KIND_LINK_SOCKET));
        planner->peers = g_ptr_array_new();
        planner->paths = g_array_new(FALSE, FALSE, sizeof(AldPlannerPath));
        planner->due = g_array_new(FALSE, FALSE, sizeof(AldDue));
        planner->chosen = g_array_new(FALSE, FALSE, sizeof(AldDue));
        planner->placeholders = g_ptr_array_new_with_free_func(g_free);
        planner->deferred = g_hash_table_new(g_str_hash, g_str_equal);
        ald_store_foreach_node(store, count_node, &n);
        planner->n_periods = ald_peer_sample_n_periods(n);
        for (guint i = 0; i < planner->sample->len; i++)
                if (!is_avoided(input, &((const AldNode *) planner->sample->pdata[i])->id))
                        g_ptr_array_add(planner->peers, planner->sample->pdata[i]);
        for (size_t i = 0; i < input->n_deferred_paths; i++)
                g_hash_table_add(planner->deferred, (gpointer) input->deferred_paths[i]);
        planner->loads = ald_loads_new(store, planner->sample, input, planner->deferred);
        if (result)
                add_rates_of_result(planner, result);
        if (planner->own)
                find_paths(planner);
}

static void planner_clear(AldPlanner *planner)
{
        g_ptr_array_unref(planner->sample);
        g_ptr_array_unref(planner->peers);
        g_array_unref(planner->paths);
        g_array_unref(planner->due);
        g_array_unref(planner->chosen);
        g_ptr_array_unref(planner->placeholders);
        g_clear_pointer(&planner->low, g_ptr_array_unref);
        ald_loads_free(planner->loads);
        g_hash_table_unref(planner->deferred);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanner, planner_clear)

GArray *ald_planner_compute(AldStore *store, const AldPlannerInput *input)
{
        g_auto(AldPlanner) planner;

        planner_init(&planner, store, input, NULL);
        for (guint i = 0; i < planner.paths->len && !input->without[ALD_KIND_LINK_SOCKET]; i++) {
                const AldPlannerPath *path = &g_array_index(planner.paths, AldPlannerPath, i);

                if (path->ours && !is_avoided(input, &path->peer->id))
                        add_due_probes(&planner, path);
        }
        if (planner.own && !input->without[ALD_KIND_LINK_RDMA])
                ald_planner_rdma(&planner);
        return ald_planner_choose(&planner);
}

AldTtlBounds ald_planner_bounds(AldStore *store, const AldPlannerInput *input, const AldRecord *record)
{
        const AldLinkSocket *row = ald_record_as(record, LINK_SOCKET, AldLinkSocket);
        g_auto(AldPlanner) planner;
        AldTtlBounds bounds;

        planner_init(&planner, store, input, row);
        bounds = bounds_of(&planner, planner.own && row->source_interface
                                             ? ald_rows_find(&planner.own->interfaces, row->source_interface)
                                             : NULL);
        /* The disturbance may soon be over, but the row shows it until the next measurement. */
        if (ald_link_has_flag(row->flags, ALD_LINK_DISTURBED))
                bounds.most = MAX(bounds.least, ald_kind_ttl(ALD_KIND_LINK_SOCKET));
        return bounds;
}

static bool is_device_avoided(const AldPlannerInput *input, const char *id)
{
        for (size_t i = 0; i < input->n_avoid_devices; i++)
                if (strcmp(input->avoid_devices[i], id) == 0)
                        return true;
        return false;
}

static int compare_local_due(gconstpointer a, gconstpointer b)
{
        const AldDueProbe *left = a, *right = b;
        uint64_t x = left->since == ALD_ABSENT_UINT64 ? 0 : left->since;
        uint64_t y = right->since == ALD_ABSENT_UINT64 ? 0 : right->since;

        if (x != y)
                return x < y ? -1 : 1;
        return left->reason != right->reason ? (int) left->reason - (int) right->reason
                                             : strcmp(left->device, right->device);
}

void ald_planner_limit_local(GArray *due, const AldPlannerInput *input)
{
        for (guint i = due->len; i > 0; i--)
                if (is_device_avoided(input, g_array_index(due, AldDueProbe, i - 1).device))
                        g_array_remove_index(due, i - 1);
        g_array_sort(due, compare_local_due);
        g_array_set_size(due, (guint) MIN(due->len, input->max));
}
