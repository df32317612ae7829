/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compute devices of this machine. */
#include <errno.h>

#include "services/common/errors.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/kinds/compute-answer.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/probe/probe-child.h"

#define DEADLINE_MSEC 600000u

/* About 5 min: others may be measured first, and other work may end soon. */
#define RETRIES_MAX 100u

static GPtrArray *make_arguments(const AldProgram *program, const AldProbeTarget *target)
{
        GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *metrics = ald_compute_metrics_format(target->metrics);

        ald_program_add(arguments, "--json");
        ald_program_add(arguments, "--progress-fd=" ALD_PROBE_SIDE_FD);
        ald_program_add(arguments, "--device=%s", target->device);
        ald_program_add(arguments, "--metric=%s", metrics);
        if (!target->force)
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
        ald_compute_answer_read(output, failure, target->device, target->force, ret);
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

/* Devices that are asleep or do not report their load may be measured on request. */
static bool is_in_use(const AldProbeFacts *facts, const AldDeviceRecords *records, const AldBackend *backend)
{
        AldDeviceObstacle obstacle = ald_device_obstacle(records, backend, facts->now_realtime);

        return (obstacle == ALD_DEVICE_COMPUTED_ON || obstacle == ALD_DEVICE_IN_USE) &&
               !facts->is_ours(backend->id, facts->userdata);
}

/* The device, or without one all that are free; with force, all of them. */
static int resolve(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets)
{
        const AldDeviceRecords devices = ald_node_records_devices(facts->own, facts->own_id);
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

static const AldKind needs[] = { ALD_KIND_BACKENDS, ALD_KIND_SYSTEM, ALD_KIND_COMPUTE, ALD_N_KINDS };

const AldProbeKind ald_probe_compute = {
        .kind = ALD_KIND_COMPUTE,
        .result = ALD_KIND_COMPUTE_RESULT,
        .program = "alidade-probe-compute",
        .noun = "compute devices",
        .subject = "Measuring compute devices is",
        .inhibit = ALD_INHIBIT_COMPUTE,
        .is_local = true,
        .deadline_msec = DEADLINE_MSEC,
        .retries_max = RETRIES_MAX,
        .needs = needs,
        .make_arguments = make_arguments,
        .read_progress = read_progress,
        .read = read_answer,
        .join = ald_compute_answer_join,
        .options = &ald_probe_compute_options_struct,
        .take_options = take_options,
        .resolve = resolve,
        .refusals = refusals,
};
