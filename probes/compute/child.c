/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probes/common/process-limits.h"
#include "probes/compute/child.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/run/answer.h"
#include "record/message.h"

#define DATA_MIN (UINT64_C(4) << 30)
#define FILES_MAX 4096u

/* Limits this process. The limits are wide, since drivers reserve much memory and include compilers, and the
 * buffers of a processor are memory of this process. */
static int apply_limits(const AldComputeOptions *options)
{
        uint64_t memory = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);
        unsigned processors = (unsigned) sysconf(_SC_NPROCESSORS_CONF);
        const AldProcessLimits limits = {
                .data_max = MAX(memory / 2, DATA_MIN),
                .files_max = FILES_MAX,
                .cpu_seconds_max = (options->timeout + 1) * MAX(processors, 1),
        };

        return ald_process_limits_apply(&limits, SIGKILL, (int) options->parent);
}

/* Sends a line, and takes ownership of it. */
static void send_line(int fd, char *line)
{
        struct iovec parts[] = { { line, line ? strlen(line) : 0 }, { (char *) "\n", 1 } };

        /* If this fails, the program no longer waits for the rest. */
        if (!line || writev(fd, parts, G_N_ELEMENTS(parts)) != (ssize_t) parts[0].iov_len + 1)
                _exit(EXIT_FAILURE);
        g_free(line);
}

static void send_progress(AldComputeStepPhase phase, const char *variant, double fraction, void *userdata)
{
        const AldComputeStep step = { .phase = ald_compute_step_phase_to_string(phase),
                .variant = variant,
                .fraction = isfinite(fraction) ? CLAMP(fraction, 0, 1) : 0 };

        send_line(*(const int *) userdata, ald_message_format_named(ALD_KIND_COMPUTE_STEP, &step));
}

static int send_devices(const AldComputeOptions *options, const AldCl *cl, AldFailure *failure)
{
        GPtrArray *devices = NULL;
        int r = ald_devices_query(cl, &devices, failure);

        if (r >= 0)
                send_line(options->answer_fd, ald_answer_of_devices(devices));
        return r;
}

/* Fails if other work was running and the user wants to give way. This is checked before the measurement,
 * lest it disturb that work, and after it. */
static int fail_if_busy(const AldComputeOptions *options, bool others, AldFailure *failure)
{
        return options->gives_way && others ? ald_fail(failure, ALD_FAILURE_BUSY, "other work was running")
                                            : 0;
}

static int send_measure(const AldComputeOptions *options, const AldCl *cl, AldFailure *failure)
{
        const AldMetric metric = (AldMetric) __builtin_ctz(options->metrics);
        int fd = options->answer_fd;
        const AldMeasureOptions how = {
                .seconds_max = options->seconds_max,
                .gives_way = options->gives_way,
                .variant = options->variant,
                .size = options->size,
                .simpler_than = options->simpler_than,
                .progress = send_progress,
                .userdata = &fd,
        };
        const AldDeviceIdentity listed = { options->ordinal, options->name, options->pci };
        AldMeasure result = {};
        AldOpenclSession session;
        int r = ald_opencl_session_open_listed(&session, cl, &listed, failure);

        if (r >= 0)
                r = fail_if_busy(options, session.busy, failure);
        if (r >= 0)
                r = ald_metric_measure(metric, &session, &how, &result, failure);
        if (r >= 0)
                r = fail_if_busy(options, result.meter.flags & ALD_FLAG_BUSY, failure);
        if (r >= 0)
                send_line(fd, ald_answer_of_measure(&result));
        return r;
}

void ald_child_run(const AldComputeOptions *options)
{
        AldFailure failure = {};
        AldCl cl;
        int r;

        if (apply_limits(options) < 0 || fcntl(options->answer_fd, F_SETFD, FD_CLOEXEC) < 0)
                _exit(EXIT_FAILURE);
        r = ald_cl_open(&cl, &failure);
        if (r >= 0)
                r = options->lists ? send_devices(options, &cl, &failure)
                                   : send_measure(options, &cl, &failure);
        if (r < 0)
                send_line(options->answer_fd, ald_answer_of_failure(&failure));
        /* _exit() skips the clean-up of the drivers, which may hang or crash as well. */
        _exit(EXIT_SUCCESS);
}
