/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include <glib.h>

#include "record/field.h"
#include "record/figure-text.h"
#include "services/common/errors.h"
#include "services/common/timer.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/machine/cpu-load.h"
#include "services/link-probe/probe/device-schedule.h"
#include "state/planner/planner-device.h"

/* The time after the start, or after a measurement, until the load of the processors without it is known. */
#define PAUSE_USEC (UINT64_C(2) * G_USEC_PER_SEC)
#define TICK_USEC (UINT64_C(15) * G_USEC_PER_SEC)

/* The time after a measurement in which telemetry may still report it as other work. */
#define REPORTED_USEC (UINT64_C(3) * G_USEC_PER_SEC)

struct AldComputeManager {
        AldComputeManagerParts parts;
        bool enabled;
        AldCpuLoad *load;
        AldComputeResults *results;
        AldTimer *tick;
        bool asked; /* for the records of this node */
        char *due;  /* measured once the records of this node have arrived */
        char *last; /* the device that was measured last, and when that ended */
        uint64_t last_usec;
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static const AldProbe *running(const AldComputeManager *manager)
{
        return ald_prober_running(manager->parts.prober, &ald_probe_compute);
}

static bool is_held_off(const AldComputeManager *manager)
{
        return ald_gate_may(manager->parts.gate, &ald_probe_compute, true) < 0;
}

bool ald_compute_manager_caused(const AldComputeManager *manager, const char *device)
{
        const AldProbe *probe = running(manager);

        return (probe && g_str_equal(ald_probe_target(probe)->device, device)) ||
               (g_strcmp0(manager->last, device) == 0 && now_usec() < manager->last_usec + REPORTED_USEC);
}

static bool is_ours(const char *device, void *userdata)
{
        return ald_compute_manager_caused(userdata, device);
}

static void set_tick(AldComputeManager *manager, uint64_t delay)
{
        ald_timer_set(manager->tick, (gint64) (now_usec() + delay));
}

static double cpu_usage(AldComputeManager *manager)
{
        return ald_cpu_load_read(manager->load, now_usec());
}

static char *why_cpu_is_left_alone(AldComputeManager *manager, bool force)
{
        g_autofree char *text = NULL;
        double usage;

        if (ald_prober_count_links(manager->parts.prober) + ald_sessions_count(manager->parts.sessions) > 0)
                return g_strdup("links are being measured, which also uses the processors");
        usage = cpu_usage(manager);
        if (force)
                return NULL;
        if (isnan(usage))
                return g_strdup("the load of the processors is not known yet");
        if (usage <= ALD_DEVICE_USAGE_MAX_PERCENT)
                return NULL;
        text = ald_format_figure(&ald_unit_percent, usage);
        return g_strdup_printf("the processors are %s in use", text);
}

/* The load of a GPU is checked with the state service: before it is due, and for each request. */
char *ald_compute_manager_obstacle(AldComputeManager *manager, const AldProbeTarget *target)
{
        return g_str_equal(target->device, ALD_CPU_ID) ? why_cpu_is_left_alone(manager, target->force) : NULL;
}

/* From now on the load is caused by others. A measurement that could not start because of another run of the
 * program is also tried again later. */
void ald_compute_manager_take(AldComputeManager *manager, const AldProbe *probe, const AldProbeAnswer *answer)
{
        const AldProbeTarget *target = ald_probe_target(probe);

        ald_cpu_load_restart(manager->load, now_usec());
        g_free(manager->last);
        manager->last = g_strdup(target->device);
        manager->last_usec = now_usec();
        ald_compute_results_take(manager->results, target, answer, ald_realtime_usec());
        set_tick(manager, answer->verdict == ALD_PROBE_LATER ? TICK_USEC : PAUSE_USEC);
}

static void on_progress(AldProbe *probe, const char *phase, double fraction, void *userdata)
{
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        AldComputeManager *manager = userdata;

        if (answer->verdict != ALD_PROBE_DONE)
                g_info("%s was not measured: %s", ald_probe_target(probe)->device, answer->reason);
        ald_compute_manager_take(manager, probe, answer);
        ald_jobs_step(manager->parts.jobs);
}

static void fail(AldComputeManager *manager, const AldProbeTarget *target, int error)
{
        g_autofree char *reason = g_strdup_printf("cannot run the probe: %s", g_strerror(-error));
        const AldProbeAnswer answer = { .verdict = ALD_PROBE_FAILED, .reason = reason };

        ald_compute_results_take(manager->results, target, &answer, ald_realtime_usec());
}

/* Whether a due device may be measured now. */
static bool is_open(const AldComputeManager *manager)
{
        return manager->enabled && !is_held_off(manager) && ald_work_units_known(manager->parts.work) &&
               !ald_work_unit(manager->parts.work) && !running(manager);
}

static void start(AldComputeManager *manager, const AldBackend *backend)
{
        static const AldProbeHandler handler = { .progress = on_progress, .ended = on_ended };
        AldProbeTarget target;
        AldProbe *probe;
        int r;

        if (g_str_equal(backend->id, ALD_CPU_ID)) {
                g_autofree char *reason = why_cpu_is_left_alone(manager, false);

                if (reason)
                        return;
        }
        target = ald_compute_target(&ald_probe_compute, backend, ALD_COMPUTE_ALL, false);
        target.automatic = true;
        r = ald_prober_start(manager->parts.prober, &target, &handler, manager, &probe);
        if (r < 0 && r != -ALD_E_BUSY)
                fail(manager, &target, r);
        ald_probe_target_clear(&target);
}

/* Describes the other work that keeps the device from being measured; to be freed. Locks do not count: their
 * holders want exactly that. */
static char *why_it_waits(
        AldComputeManager *manager, const AldBackend *backend, const AldDeviceAssessment *assessment)
{
        const char *unit = ald_work_unit(manager->parts.work);
        AldDeviceObstacle obstacle = assessment->obstacle;

        if (unit)
                return g_strdup_printf("%s is active", unit);
        if (g_str_equal(backend->id, ALD_CPU_ID) && cpu_usage(manager) > ALD_DEVICE_USAGE_MAX_PERCENT)
                obstacle = ALD_DEVICE_IN_USE;
        return obstacle == ALD_DEVICE_FREE || obstacle == ALD_DEVICE_ASLEEP
                       ? NULL
                       : g_strdup(ald_device_obstacle_to_string(obstacle));
}

/* Whether the device is to be measured as soon as no other work uses it, although it is not due: its last
 * measurement met other work. After a restart this is known of a device that still waits. */
static bool is_kept_waiting(const AldComputeManager *manager, const char *id, bool waits)
{
        const AldComputeDevice *row = ald_compute_results_find(manager->results, id);
        bool was_measured = row && (row->measured_usec != ALD_ABSENT_UINT64 ||
                                           row->failed_usec != ALD_ABSENT_UINT64);

        return was_measured ? ald_compute_results_met_other_work(manager->results, id) : waits;
}

/* The last row of this service or, after a restart, that of the state service. */
static const AldComputeDevice *find_known(
        const AldComputeManager *manager, const AldDeviceRecords *records, const char *id)
{
        const AldComputeDevice *row = ald_compute_results_find(manager->results, id);

        return !row && records->compute ? ald_rows_find(&records->compute->devices, id) : row;
}

/* A device that is free now still waits until it was measured, which may fail. A device that is asleep, or is
 * not measured, does not wait. */
static void note_waiting(
        AldComputeManager *manager, const AldDeviceRecords *records, const AldBackend *backend, uint64_t now)
{
        const AldComputeDevice *row = find_known(manager, records, backend->id);
        AldDeviceAssessment assessment = ald_device_assess(records, backend, now);
        bool waits = row && row->waiting_since_usec <= now;
        bool is_wanted = manager->enabled && !is_held_off(manager) &&
                         (assessment.state.due || is_kept_waiting(manager, backend->id, waits));
        g_autofree char *reason = is_wanted ? why_it_waits(manager, backend, &assessment) : NULL;
        uint64_t since = waits ? row->waiting_since_usec : now;

        if (!is_wanted || (!reason && assessment.obstacle == ALD_DEVICE_ASLEEP)) {
                if (row && row->waiting_since_usec != ALD_ABSENT_UINT64)
                        ald_compute_results_wait(manager->results, backend->id, ALD_ABSENT_UINT64, NULL);
        } else if (reason && (!waits || g_strcmp0(row->waiting_reason, reason) != 0))
                ald_compute_results_wait(manager->results, backend->id, since, reason);
}

/* Conditions may have changed while the state service was asked. */
static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        AldComputeManager *manager = userdata;
        const AldDeviceRecords devices = ald_node_records_devices(records, manager->parts.own_id);
        g_autofree char *due = g_steal_pointer(&manager->due);

        manager->asked = false;
        if (error >= 0)
                ald_work_take_devices(manager->parts.work, &devices, ald_realtime_usec(), is_ours, manager);
        if (running(manager))
                return;
        for (size_t i = 0; devices.backends && i < devices.backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&devices.backends->devices, i);

                if (!ald_device_is_measurable(devices.backends, backend))
                        continue;
                note_waiting(manager, &devices, backend, ald_realtime_usec());
                if (g_strcmp0(due, backend->id) == 0 && is_open(manager))
                        start(manager, backend);
        }
}

static void ask_records(AldComputeManager *manager, const char *due)
{
        if (manager->asked)
                return;
        manager->due = g_strdup(due);
        manager->asked = ald_state_query_own(
                                 manager->parts.query, manager->parts.own_id, on_records, manager) >= 0;
        if (!manager->asked)
                g_clear_pointer(&manager->due, g_free);
}

static void on_due(int error, const AldRows *rows, void *userdata)
{
        AldComputeManager *manager = userdata;
        const char *device = NULL;

        if (error < 0)
                g_info("Cannot read the due device from the state service: %s", ald_error_describe(error));
        for (size_t i = 0; i < rows->n && !device; i++) {
                const AldDueProbeRow *row = ald_rows_at(rows, i);

                if (g_strcmp0(row->kind, ald_kinds[ALD_KIND_COMPUTE].name) == 0)
                        device = row->address;
        }
        ask_records(manager, device);
}

static void on_tick(void *userdata)
{
        AldComputeManager *manager = userdata;
        g_autofree char *cpu_reason = why_cpu_is_left_alone(manager, false);
        const char *const avoid[] = { cpu_reason ? ALD_CPU_ID : NULL, NULL };
        const char *const kinds[] = { ald_kinds[ALD_KIND_COMPUTE].name, NULL };
        const AldDueQuestion question = {
                .max = 1, .kinds = kinds, .bytes_per_hour = ALD_ABSENT_UINT64, .avoid_devices = avoid
        };
        int r;

        set_tick(manager, TICK_USEC);
        ald_jobs_step(manager->parts.jobs);
        if (!is_open(manager)) {
                ask_records(manager, NULL);
                return;
        }
        r = ald_state_query_due(manager->parts.query, &question, on_due, manager);
        if (r < 0)
                g_info("Cannot ask the state service for due devices: %s", g_strerror(-r));
}

AldComputeManager *ald_compute_manager_new(const AldComputeManagerParts *parts)
{
        AldComputeManager *manager = g_new0(AldComputeManager, 1);

        manager->parts = *parts;
        manager->load = ald_cpu_load_new(ald_service_root(parts->service));
        (void) ald_cpu_load_read(manager->load, now_usec());
        manager->results = ald_compute_results_new();
        manager->tick = ald_timer_new("compute", on_tick, manager);
        set_tick(manager, PAUSE_USEC);
        return manager;
}

void ald_compute_manager_free(AldComputeManager *manager)
{
        if (!manager)
                return;
        ald_timer_free(manager->tick);
        ald_compute_results_free(manager->results);
        ald_cpu_load_free(manager->load);
        g_free(manager->due);
        g_free(manager->last);
        g_free(manager);
}

void ald_compute_manager_enable(AldComputeManager *manager, bool enabled)
{
        manager->enabled = enabled;
}

static void end_for_lock(AldComputeManager *manager)
{
        g_autofree char *reason = ald_gate_lock_reason(manager->parts.gate, &ald_probe_compute);

        ald_jobs_fail_all(manager->parts.jobs, ALD_KIND_COMPUTE, reason);
        ald_prober_end_kind(manager->parts.prober, &ald_probe_compute, reason);
}

void ald_compute_manager_check_work(AldComputeManager *manager)
{
        const char *unit = ald_work_unit(manager->parts.work);
        const AldProbe *probe = running(manager);
        g_autofree char *reason = unit ? g_strdup_printf("%s is active", unit) : NULL;

        if (is_held_off(manager))
                end_for_lock(manager);
        else if (probe && reason && ald_probe_target(probe)->automatic)
                ald_prober_end_kind(manager->parts.prober, &ald_probe_compute, reason);
        if (is_held_off(manager) || !reason)
                set_tick(manager, PAUSE_USEC);
}

AldComputeResults *ald_compute_manager_results(AldComputeManager *manager)
{
        return manager->results;
}
