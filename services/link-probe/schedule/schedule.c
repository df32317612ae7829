/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/id.h"
#include "services/common/errors.h"
#include "services/common/service.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/link-record.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/schedule/disturbed-results.h"
#include "services/link-probe/schedule/schedule.h"

/* Runs the probes of links that the state service reports as due; state/link/path-due.h decides which are,
 * also after failures. */
struct AldSchedule {
        AldScheduleParts parts;
        AldDeferrals *peers;    /* by their ids */
        AldDeferrals *paths;    /* by their keys */
        AldDeferrals *unloaded; /* keys of paths whose peers allow round trips only */
        AldDisturbedResults *disturbed;
        bool wanted;
        bool asked;  /* the state service is about to say what is due */
        bool again;  /* meanwhile another run was requested, which that answer may be too old for */
        bool warned; /* the last error was logged */
};

AldSchedule *ald_schedule_new(const AldScheduleParts *parts)
{
        AldSchedule *schedule = g_new0(AldSchedule, 1);

        schedule->parts = *parts;
        schedule->peers = ald_deferrals_new(ALD_DEFERRAL_MIN_USEC, ALD_DEFERRAL_MAX_USEC);
        schedule->paths = ald_deferrals_new(ALD_DEFERRAL_PATH_MIN_USEC, ALD_DEFERRAL_PATH_MAX_USEC);
        schedule->unloaded = ald_deferrals_new(ALD_DEFERRAL_PATH_MIN_USEC, ALD_DEFERRAL_PATH_MAX_USEC);
        schedule->disturbed = ald_disturbed_results_new();
        return schedule;
}

void ald_schedule_free(AldSchedule *schedule)
{
        if (!schedule)
                return;
        ald_deferrals_free(schedule->peers);
        ald_deferrals_free(schedule->paths);
        ald_deferrals_free(schedule->unloaded);
        ald_disturbed_results_free(schedule->disturbed);
        g_free(schedule);
}

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

/* Defers the peer, and returns for how long. A path that the peer defers, possibly for days, is deferred as
 * well; otherwise it would always be due before all other paths to the peer. */
static uint64_t defer_target(
        AldSchedule *schedule, const AldProbeTarget *target, const AldProbeAnswer *answer)
{
        if (answer->word) {
                g_autofree char *key = ald_result_key(target);

                (void) ald_deferrals_add(schedule->paths, key, now_usec());
        }
        return ald_deferrals_add(schedule->peers, target->peer, now_usec());
}

void ald_schedule_take(AldSchedule *schedule, const AldProbe *probe, const AldProbeAnswer *answer)
{
        uint64_t span = ALD_SCHEDULE_PAUSE_USEC;

        if (answer->verdict == ALD_PROBE_LATER)
                span = defer_target(schedule, ald_probe_target(probe), answer);
        ald_results_take(schedule->parts.results, probe, answer, ald_realtime_usec(), now_usec());
        /* From now on, the traffic on the interface is not caused by the probe. */
        ald_counters_read(schedule->parts.counters, now_usec());
        if (answer->verdict == ALD_PROBE_DONE && ald_probe_target(probe)->scope == ALD_LINK_SCOPE_FULL &&
                !ald_probe_target(probe)->rtt_only)
                ald_counters_reset_errors(schedule->parts.counters, ald_probe_interface(probe));
        schedule->parts.ended(span, schedule->parts.userdata);
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata);

static void start_probe(AldSchedule *schedule, const AldProbeTarget *target)
{
        static const AldProbeHandler handler = { .ended = on_ended };
        g_autofree char *reason = NULL;
        AldProbe *probe;
        int r = ald_prober_start(schedule->parts.prober, target, &handler, schedule, &probe);

        if (r >= 0 || r == -ALD_E_BUSY)
                return;
        reason = g_strdup_printf("cannot reach it: %s", ald_route_describe(r));
        ald_results_fail(schedule->parts.results, target, reason, ald_realtime_usec(), now_usec());
}

/* Measures round trips at once, since the peer serves them even while it does not allow loading the path.
 * There is no such probe over RDMA. */
static void measure_round_trips(AldSchedule *schedule, const AldProbeTarget *refused)
{
        AldProbeTarget target = *refused;
        g_autofree char *key = ald_result_key(refused);

        if (ald_probe_kind_is_rdma(refused->kind))
                return;
        (void) ald_deferrals_add(schedule->unloaded, key, now_usec());
        target.scope = ALD_LINK_SCOPE_ROUND_TRIPS;
        target.overdue = target.despite_traffic = target.despite_work = target.brief = false;
        start_probe(schedule, &target);
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        AldSchedule *schedule = userdata;
        const AldProbeTarget *target = ald_probe_target(probe);
        g_autofree char *key = ald_result_key(target);
        g_auto(AldProbeAnswer) deferred = { 0 };
        bool refused = g_strcmp0(answer->word, ALD_PROBE_ROUND_TRIPS_ONLY) == 0;

        /* The first figures of a path are better than none, even if they are disturbed. */
        if (!target->despite_traffic && ald_results_have_rate(schedule->parts.results, key) &&
                ald_disturbed_results_defer(schedule->disturbed, key, answer, now_usec(), &deferred))
                answer = &deferred;
        if (answer->verdict == ALD_PROBE_FAILED || answer == &deferred || refused)
                g_info("The link to %s by %s: %s%s", target->peer, target->address,
                        refused ? "round trips only: " : "", answer->reason);
        ald_schedule_take(schedule, probe, answer);
        if (refused)
                measure_round_trips(schedule, target);
}

static unsigned count_free_slots(const AldSchedule *schedule)
{
        unsigned n = ald_prober_count_links(schedule->parts.prober);

        return n >= ALD_SCHEDULE_PROBES_MAX ? 0 : ALD_SCHEDULE_PROBES_MAX - n;
}

/* Checks for work again: the state service may not know yet that the machine, or the peer, has work. */
static bool may_load(const AldSchedule *schedule, const AldProbeTarget *target)
{
        g_autofree char *key = ald_result_key(target);

        return target->scope == ALD_LINK_SCOPE_ROUND_TRIPS ||
               ((ald_gate_may_load(schedule->parts.gate) ||
                        (target->despite_work && ald_gate_may_load_first(schedule->parts.gate))) &&
                       !ald_deferrals_has(schedule->unloaded, key, now_usec()));
}

/* Returns -EINVAL for a row that is not one of a link, or that this version does not know. */
static int read_target(const AldDueProbeRow *row, AldProbeTarget *ret)
{
        const AldProbeKind *kind = row->kind ? ald_probe_kind_of_name(row->kind) : NULL;
        int scope = row->scope ? ald_link_scope_from_string(row->scope) : ALD_LINK_SCOPE_FULL;
        AldId id;

        if (!kind || kind->local || scope < 0 || !row->peer || !row->address ||
                ald_id_parse(row->peer, &id) < 0 ||
                ald_probe_target_set(
                        ret, kind, row->peer, row->address, row->interface ? row->interface : "") < 0)
                return -EINVAL;
        if (ald_probe_kind_is_rdma(kind) &&
                (!row->source_port || !row->sink_port ||
                        ald_probe_target_set_ports(ret, row->source_port, row->sink_port) < 0))
                return -EINVAL;
        ret->scope = (AldLinkScope) scope;
        ret->automatic = true;
        ret->overdue = row->overdue == 1;
        ret->despite_traffic = row->despite_traffic == 1;
        ret->despite_work = row->despite_work == 1;
        ret->brief = row->brief == 1;
        return 0;
}

static void warn_once(AldSchedule *schedule, int error)
{
        if (!schedule->warned)
                g_info("Cannot read the due links from the state service: %s", ald_error_describe(error));
        schedule->warned = true;
}

static void on_due(int error, const AldRows *rows, void *userdata)
{
        AldSchedule *schedule = userdata;
        bool again = schedule->again;

        schedule->asked = schedule->again = false;
        if (error < 0) {
                warn_once(schedule, error);
                return;
        }
        schedule->warned = false;
        if (!schedule->wanted)
                return;
        schedule->wanted = false;
        for (size_t i = 0; i < rows->n && count_free_slots(schedule) > 0; i++) {
                AldProbeTarget target;

                if (read_target(ald_rows_at(rows, i), &target) >= 0 &&
                        ald_gate_may_automatically(schedule->parts.gate, target.kind) &&
                        may_load(schedule, &target))
                        start_probe(schedule, &target);
        }
        if (again)
                ald_schedule_run(schedule);
}

static void query_due_links(AldSchedule *schedule)
{
        g_autoptr(GHashTable) traffic = ald_counters_traffic(schedule->parts.counters);
        g_autoptr(GPtrArray) avoid = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        const AldScheduleParts *parts = &schedule->parts;
        const char *kinds[ALD_PROBE_KINDS_MAX + 1] = { NULL };
        AldDueQuestion question;
        unsigned n = 0;
        int r;

        if (count_free_slots(schedule) == 0)
                return;
        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                if (!(*kind)->local && ald_gate_may_automatically(parts->gate, *kind))
                        kinds[n++] = ald_kinds[(*kind)->kind].name;
        ald_deferrals_append(schedule->peers, now_usec(), avoid);
        ald_deferrals_append(schedule->paths, now_usec(), paths);
        ald_sessions_append_peers(parts->sessions, avoid);
        for (unsigned i = 0; i < ald_prober_count(parts->prober); i++) {
                const AldProbeTarget *target = ald_probe_target(ald_prober_at(parts->prober, i));

                if (!target->kind->local)
                        g_ptr_array_add(avoid, g_strdup(target->peer));
        }
        g_ptr_array_add(avoid, NULL);
        g_ptr_array_add(paths, NULL);
        question = (AldDueQuestion){
                .max = count_free_slots(schedule),
                .kinds = kinds,
                .bytes_per_hour = parts->config->bytes_per_hour,
                .traffic = traffic,
                .avoid = (const char *const *) avoid->pdata,
                .avoid_paths = (const char *const *) paths->pdata,
        };
        r = ald_state_query_due(parts->query, &question, on_due, schedule);
        schedule->asked = r >= 0;
        if (r < 0)
                warn_once(schedule, r);
}

static void on_own(int error, const AldNodeRecords *records, void *userdata)
{
        AldSchedule *schedule = userdata;

        /* While the state service restarts, its last reply remains in use. */
        if (records->of[ALD_KIND_NETWORK])
                ald_prober_set_own(schedule->parts.prober, records);
        if (error >= 0 && schedule->wanted)
                query_due_links(schedule);
}

void ald_schedule_run(AldSchedule *schedule)
{
        int r;

        ald_counters_read(schedule->parts.counters, now_usec());
        ald_results_expire(schedule->parts.results, now_usec());
        schedule->wanted = true;
        schedule->again = schedule->asked;
        r = ald_state_query_own(schedule->parts.query, schedule->parts.own_id, on_own, schedule);
        if (r < 0)
                g_info("Cannot ask the state service: %s", ald_error_describe(r));
}

void ald_schedule_check(AldSchedule *schedule)
{
        g_auto(AldPolicy) policy;

        ald_gate_policy(schedule->parts.gate, &policy);
        if (!ald_policy_is_full(&policy))
                ald_prober_end_automatic(
                        schedule->parts.prober, policy.reason, ald_gate_may_load_first(schedule->parts.gate));
}

void ald_schedule_stop(AldSchedule *schedule)
{
        schedule->wanted = schedule->again = false;
}
