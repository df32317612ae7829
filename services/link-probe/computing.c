/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/timer.h"
#include "services/link-probe/computing.h"
#include "services/link-probe/cpu-load.h"
#include "services/link-probe/program.h"
#include "state/planner-device.h"

#define CPU_ID "cpu" /* the row of the processors in Node1.Backends */

/* So long after a start, and after a measurement, the load of the processors is known without it. */
#define PAUSE_USEC (UINT64_C(2) * G_USEC_PER_SEC)
#define TICK_USEC (UINT64_C(15) * G_USEC_PER_SEC)

struct AldComputing {
        AldComputingParts parts;
        bool enabled;
        AldCpuLoad *load;
        AldComputeQuery *query;
        AldNodeQuery *nodes;
        AldComputeProber *prober;
        AldComputeResults *results;
        AldComputeJobs *jobs;
        AldComputeWishes *wishes;
        AldTimer *tick;
        char *due; /* that is asked about */
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static bool is_held_off(const AldComputing *computing)
{
        return ald_inhibitors_what(computing->parts.inhibitors) & ALD_INHIBIT_COMPUTE;
}

static int may_measure(void *userdata)
{
        return is_held_off(userdata) ? -EBUSY : 0;
}

static void set_tick(AldComputing *computing, uint64_t delay)
{
        ald_timer_set(computing->tick, (gint64) (now_usec() + delay));
}

static char *why_cpu_is_left_alone(AldComputing *computing)
{
        double usage;

        if (computing->parts.links_are_measured(computing->parts.userdata))
                return g_strdup("links are measured, which takes the processors too");
        usage = ald_cpu_load_read(computing->load, now_usec());
        if (isnan(usage))
                return g_strdup("it is not known yet how busy the processors are");
        return usage > ALD_DEVICE_USAGE_MAX_PERCENT
                       ? g_strdup_printf("the processors are in use, by %.0f %%", usage)
                       : NULL;
}

/* How busy a GPU is, the state service knows: before it is named as due, and when somebody asks for it. */
static char *in_the_way(const char *device, void *userdata)
{
        return g_str_equal(device, CPU_ID) ? why_cpu_is_left_alone(userdata) : NULL;
}

/* From here on the load is that of others. What could not even begin, for another run of the program, could
 * not a moment later. */
static void take(const AldComputeTarget *target, const AldProbeAnswer *answer, void *userdata)
{
        AldComputing *computing = userdata;

        ald_cpu_load_restart(computing->load, now_usec());
        ald_compute_results_take(computing->results, target, answer, ald_realtime_usec());
        set_tick(computing, answer->verdict == ALD_PROBE_LATER ? TICK_USEC : PAUSE_USEC);
}

static void on_progress(const char *phase, double fraction, void *userdata)
{
}

static void on_ended(const AldComputeTarget *target, const AldProbeAnswer *answer, void *userdata)
{
        AldComputing *computing = userdata;

        if (answer->verdict != ALD_PROBE_DONE)
                g_info("%s was not measured: %s", target->device, answer->reason);
        take(target, answer, userdata);
        ald_jobs_step(computing->parts.jobs);
}

static void fail(AldComputing *computing, const AldComputeTarget *target, int error)
{
        g_autofree char *reason = g_strdup_printf("the probe cannot be run: %s", g_strerror(-error));
        const AldProbeAnswer answer = { .verdict = ALD_PROBE_FAILED, .reason = reason };

        ald_compute_results_take(computing->results, target, &answer, ald_realtime_usec());
}

/* Much may have changed while its driver was asked about. */
static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        static const AldComputeHandler handler = { .progress = on_progress, .ended = on_ended };
        AldComputing *computing = userdata;
        const AldBackends *backends = ald_record_as(records->backends, BACKENDS, AldBackends);
        g_autofree char *device = g_steal_pointer(&computing->due);
        const AldBackend *backend = device && backends ? ald_rows_find(&backends->devices, device) : NULL;
        AldComputeTarget target;
        int r;

        if (!backend || !backend->open_cl_platform || is_held_off(computing) || !computing->enabled)
                return;
        if (g_str_equal(device, CPU_ID)) {
                g_autofree char *reason = why_cpu_is_left_alone(computing);

                if (reason)
                        return;
        }
        target = ald_compute_target(backend, ALD_COMPUTE_ALL);
        r = ald_compute_prober_start(computing->prober, &target, &handler, computing);
        if (r < 0 && r != -EBUSY)
                fail(computing, &target, r);
        ald_compute_target_clear(&target);
}

static void on_due(int error, const char *device, void *userdata)
{
        AldComputing *computing = userdata;

        if (error < 0)
                g_info("The state service does not say which device is due: %s", g_strerror(-error));
        if (!device || computing->due)
                return;
        computing->due = g_strdup(device);
        if (ald_node_query_ask(computing->nodes, computing->parts.own_id, on_records, computing) < 0)
                g_clear_pointer(&computing->due, g_free);
}

static void on_tick(void *userdata)
{
        AldComputing *computing = userdata;
        g_autofree char *cpu_reason = why_cpu_is_left_alone(computing);
        const char *const avoid[] = { cpu_reason ? CPU_ID : NULL, NULL };

        set_tick(computing, TICK_USEC);
        ald_jobs_step(computing->parts.jobs);
        if (computing->enabled && !is_held_off(computing) && !ald_compute_prober_device(computing->prober))
                ald_compute_query_due(computing->query, avoid, on_due, computing);
}

static void make_parts(AldComputing *computing)
{
        const AldComputingParts *parts = &computing->parts;
        g_autofree char *program = ald_program_find("alidade-probe-compute");
        AldComputeJobsParts jobs_parts;

        computing->load = ald_cpu_load_new(ald_service_root(parts->service));
        (void) ald_cpu_load_read(computing->load, now_usec());
        computing->query = ald_compute_query_new(parts->service);
        computing->nodes = ald_node_query_new(parts->service);
        computing->prober = ald_compute_prober_new(program, parts->changed, parts->userdata);
        computing->results = ald_compute_results_new();
        jobs_parts = (AldComputeJobsParts){
                .jobs = parts->jobs,
                .prober = computing->prober,
                .own_id = parts->own_id,
                .in_the_way = in_the_way,
                .measured = take,
                .userdata = computing,
        };
        computing->jobs = ald_compute_jobs_new(&jobs_parts);
        computing->wishes = ald_compute_wishes_new(
                computing->nodes, parts->own_id, parts->jobs, computing->jobs, may_measure, computing);
}

AldComputing *ald_computing_new(const AldComputingParts *parts)
{
        AldComputing *computing = g_new0(AldComputing, 1);

        computing->parts = *parts;
        make_parts(computing);
        computing->tick = ald_timer_new("compute", on_tick, computing);
        set_tick(computing, PAUSE_USEC);
        return computing;
}

void ald_computing_free(AldComputing *computing)
{
        if (!computing)
                return;
        ald_timer_free(computing->tick);
        ald_compute_query_free(computing->query);
        ald_node_query_free(computing->nodes);
        ald_compute_wishes_free(computing->wishes);
        ald_compute_prober_free(computing->prober);
        ald_compute_jobs_free(computing->jobs);
        ald_compute_results_free(computing->results);
        ald_cpu_load_free(computing->load);
        g_free(computing->due);
        g_free(computing);
}

void ald_computing_enable(AldComputing *computing, bool enabled)
{
        computing->enabled = enabled;
}

void ald_computing_check_work(AldComputing *computing)
{
        g_autofree char *by = NULL, *reason = NULL;

        if (!is_held_off(computing)) {
                set_tick(computing, PAUSE_USEC);
                return;
        }
        by = ald_inhibitors_reason(computing->parts.inhibitors, ALD_INHIBIT_COMPUTE);
        reason = g_strdup_printf("held off by %s", by);
        ald_jobs_fail_all(computing->parts.jobs, ALD_KIND_COMPUTE, reason);
        ald_compute_prober_end(computing->prober, reason);
}

bool ald_computing_uses_cpu(const AldComputing *computing)
{
        return g_strcmp0(ald_compute_prober_device(computing->prober), CPU_ID) == 0;
}

const char *ald_computing_device(const AldComputing *computing)
{
        return ald_compute_prober_device(computing->prober) ?: "";
}

uint64_t ald_computing_time_to_free(const AldComputing *computing)
{
        return ald_compute_prober_time_to_free(computing->prober);
}

AldComputeResults *ald_computing_results(AldComputing *computing)
{
        return computing->results;
}

AldComputeWishes *ald_computing_wishes(AldComputing *computing)
{
        return computing->wishes;
}
