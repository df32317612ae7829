/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes of the compute devices of this machine. */
#include <errno.h>

#include "record/figure-text.h"
#include "record/id.h"
#include "services/common/errors.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/kinds/compute-answer.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/local/local-kind.h"
#include "services/link-probe/machine/cpu-load.h"
#include "services/link-probe/probe/probe-child.h"
#include "state/planner/planner-device.h"

#define DEADLINE_MSEC 600000u

/* About 5 min: other devices may be measured first, and other work may end soon. */
#define RETRIES_MAX 100u

static GPtrArray *make_arguments(const AldProgram *program, const AldProbeTarget *target)
{
        GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *metrics = ald_compute_metrics_format(target->metrics);

        ald_program_add(arguments, "--json");
        ald_program_add(arguments, "--progress-fd=" ALD_PROBE_SIDE_FD);
        ald_program_add(arguments, "--device=%s", target->device);
        ald_program_add(arguments, "--metric=%s", metrics);
        if (!target->force && !target->despite_work)
                ald_program_add(arguments, "--give-way");
        return arguments;
}

static int read_progress(
        const char *line, const AldProbeTarget *target, char **ret_phase, double *ret_fraction)
{
        return ald_compute_progress_read(line, ald_compute_target_metrics(target), ret_phase, ret_fraction);
}

static void read_answer(
        const char *output, const char *failure, const AldProbeTarget *target, AldProbeAnswer *ret)
{
        ald_compute_answer_read(output, failure, target->device, target->force || target->despite_work, ret);
}

static char *take_options(const void *read, AldProbeTarget *target)
{
        const AldProbeComputeOptions *options = read;

        target->force = options->force;
        for (const char *const *metric = options->metrics; metric && *metric; metric++)
                target->metrics |= ald_compute_metric_parse(*metric);
        if (!options->metrics)
                target->metrics = ALD_COMPUTE_ALL;
        return target->metrics != 0
                       ? NULL
                       : g_strdup("The list of metrics is empty; omit the option to measure all");
}

static AldDeviceRecords devices_of(const AldNodeRecords *own, const char *own_id)
{
        AldDeviceRecords devices = {
                .backends = ald_node_records_as(own, BACKENDS, AldBackends),
                .compute = ald_node_records_as(own, COMPUTE, AldCompute),
                .system = ald_node_records_as(own, SYSTEM, AldSystem),
                .system_usec = own->of[ALD_KIND_SYSTEM] ? own->of[ALD_KIND_SYSTEM]->updated_usec : 0,
        };

        (void) ald_id_parse(own_id, &devices.node);
        return devices;
}

/* Returns whether other work uses the device. One that is asleep, or does not report its load, may be
 * measured on request. */
static bool is_in_use(const AldProbeFacts *facts, const AldDeviceRecords *records, const AldBackend *backend)
{
        AldDeviceObstacle obstacle = ald_device_obstacle(records, backend, facts->now_realtime);

        return (obstacle == ALD_DEVICE_COMPUTED_ON || obstacle == ALD_DEVICE_IN_USE) &&
               !g_strv_contains(facts->ours, backend->id);
}

/* Appends the named device, or all devices that are free; with force, also those in use. */
static int resolve(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets)
{
        const AldDeviceRecords devices = devices_of(facts->own, facts->own_id);
        int r = -ALD_E_NO_SUCH_DEVICE;

        if (!devices.backends)
                return -ENODATA;
        for (size_t i = 0; i < devices.backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&devices.backends->devices, i);

                if (!ald_device_is_measurable(devices.backends, backend) ||
                        (wanted->device && !g_str_equal(wanted->device, backend->id)))
                        continue;
                if (!wanted->force && is_in_use(facts, &devices, backend)) {
                        r = -ALD_E_BUSY;
                } else if (!wanted->force && g_str_equal(backend->id, ALD_CPU_ID) &&
                           ald_device_schedule_processors(facts->schedule)) {
                        r = -ALD_E_PROCESSORS_BUSY;
                } else {
                        AldProbeTarget target = ald_compute_target(
                                wanted->kind, backend, wanted->metrics, wanted->force);

                        g_array_append_val(targets, target);
                }
        }
        return targets->len > 0 ? 0 : r;
}

static const AldProbeRefusal refusals[] = {
        { -ALD_E_NO_SUCH_DEVICE, ALD_ERROR_NO_SUCH_DEVICE, "OpenCL shows no such device on this machine" },
        { -ENODATA, ALD_ERROR_NO_SUCH_DEVICE, "The devices of this machine are not known yet" },
        { -ALD_E_BUSY, ALD_ERROR_BUSY,
                "The device is in use, or processes compute on it; use the option Force to measure anyway" },
        { 0, NULL, "Cannot read the devices from the state service" },
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

/* Returns the tracker of the load of the processors, which is the state of this kind. */
static void *new_state(const AldDeviceScheduleParts *parts)
{
        AldCpuLoad *load = ald_cpu_load_new(ald_service_root(parts->service));

        (void) ald_cpu_load_read(load, now_usec());
        return load;
}

static void free_state(void *state)
{
        ald_cpu_load_free(state);
}

static double cpu_usage(const AldDeviceSchedule *schedule)
{
        return ald_cpu_load_read(ald_device_schedule_state(schedule), now_usec());
}

static char *why_cpu_is_left_alone(const AldDeviceSchedule *schedule, bool force)
{
        const AldDeviceScheduleParts *parts = ald_device_schedule_parts(schedule);
        const char *unit = ald_device_schedule_processors(schedule);
        g_autofree char *text = NULL;
        double usage;

        if (ald_prober_count_links(parts->prober) + ald_sessions_count(parts->sessions) > 0)
                return g_strdup("links are being measured, which also uses the processors");
        usage = cpu_usage(schedule);
        if (force || unit)
                return force ? NULL : g_strdup(unit);
        if (isnan(usage))
                return g_strdup("the load of the processors is not known yet");
        if (usage <= ALD_DEVICE_USAGE_MAX_PERCENT)
                return NULL;
        text = ald_format_figure(&ald_unit_percent, usage);
        return g_strdup_printf("the processors are %s in use", text);
}

/* Checks the processors only: the load of a GPU is checked with the records of the state service, before it
 * is due and for each request. */
static char *find_obstacle(AldDeviceSchedule *schedule, const AldProbeTarget *target)
{
        return g_str_equal(target->device, ALD_CPU_ID)
                       ? why_cpu_is_left_alone(schedule, target->force || target->despite_work)
                       : NULL;
}

static void list_avoided(AldDeviceSchedule *schedule, GPtrArray *ids)
{
        g_autofree char *reason = why_cpu_is_left_alone(
                schedule, ald_device_schedule_has_waited(schedule, ALD_CPU_ID));

        if (reason)
                g_ptr_array_add(ids, g_strdup(ALD_CPU_ID));
}

/* Also reports processes that compute on a device as work of this machine. */
static GArray *list_devices(AldDeviceSchedule *schedule, const AldNodeRecords *own, uint64_t now_realtime)
{
        const AldDeviceScheduleParts *parts = ald_device_schedule_parts(schedule);
        const AldDeviceRecords records = devices_of(own, parts->own_id);
        GArray *devices = g_array_new(FALSE, FALSE, sizeof(AldLocalDevice));

        ald_work_update_devices(
                ald_machine_work(parts->machine), &records, now_realtime, ald_device_schedule_ours(schedule));
        for (size_t i = 0; records.backends && i < records.backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&records.backends->devices, i);
                AldDeviceAssessment assessment = ald_device_assess(&records, backend, now_realtime);
                AldLocalDevice device = { .id = backend->id, .due = assessment.state.due };

                if (!ald_device_is_measurable(records.backends, backend))
                        continue;
                if (g_str_equal(backend->id, ALD_CPU_ID)) {
                        device.obstacle = ald_device_schedule_processors(schedule);
                        if (cpu_usage(schedule) > ALD_DEVICE_USAGE_MAX_PERCENT)
                                assessment.obstacle = ALD_DEVICE_IN_USE;
                }
                device.asleep = assessment.obstacle == ALD_DEVICE_ASLEEP;
                if (!device.obstacle && assessment.obstacle != ALD_DEVICE_FREE && !device.asleep)
                        device.obstacle = ald_device_obstacle_to_string(assessment.obstacle);
                g_array_append_val(devices, device);
        }
        return devices;
}

static AldProbeTarget make_target(
        const AldDeviceSchedule *schedule, const AldNodeRecords *own, const char *id)
{
        const AldBackends *backends = ald_node_records_as(own, BACKENDS, AldBackends);

        return ald_compute_target(ald_device_schedule_parts(schedule)->kind,
                ald_rows_find(&backends->devices, id), ALD_COMPUTE_ALL, false);
}

/* From now on, the load is caused by others. */
static void restart_cpu_load(
        AldDeviceSchedule *schedule, const AldProbeTarget *target, const AldProbeAnswer *answer)
{
        ald_cpu_load_restart(ald_device_schedule_state(schedule), now_usec());
}

static const AldLocalKind local = {
        .key = "compute",
        .new_state = new_state,
        .free_state = free_state,
        .avoid = list_avoided,
        .look = list_devices,
        .target = make_target,
        .obstacle = find_obstacle,
        .ended = restart_cpu_load,
        .record = ald_compute_answer_record,
};

static const AldKind needs[] = { ALD_KIND_BACKENDS, ALD_KIND_SYSTEM, ALD_KIND_COMPUTE, ALD_N_KINDS };

const AldProbeKind ald_probe_compute = {
        .kind = ALD_KIND_COMPUTE,
        .result = ALD_KIND_COMPUTE_RESULT,
        .program = "alidade-probe-compute",
        .noun = "compute devices",
        .subject = "Measuring compute devices is",
        .inhibit = ALD_INHIBIT_COMPUTE,
        .local = &local,
        .deadline_msec = DEADLINE_MSEC,
        .retries_max = RETRIES_MAX,
        .needs = needs,
        .make_arguments = make_arguments,
        .read_progress = read_progress,
        .read = read_answer,
        .join = ald_probe_answer_join,
        .options = &ald_probe_compute_options_struct,
        .take_options = take_options,
        .resolve = resolve,
        .refusals = refusals,
};
