/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"
#include "probes/compute/child.h"
#include "probes/compute/compute-report.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/run/cache.h"
#include "probes/compute/run/enumerate.h"
#include "record/message.h"

/* alidade-probe-compute: measures the performance of the compute devices of the machine through OpenCL. */

static int end_output(bool printed)
{
        if (printed && fflush(stdout) == 0 && !ferror(stdout))
                return EXIT_SUCCESS;
        fputs("alidade-probe-compute: cannot write the result\n", stderr);
        return EXIT_FAILURE;
}

/* Prints a line, which is NULL if it was too long for a record. */
static int print_json(const char *line)
{
        return end_output(line && puts(line) >= 0);
}

static int print_failure(const AldComputeOptions *options, const AldFailure *failure)
{
        g_autofree char *line = options->json ? ald_failure_to_json(failure) : NULL;

        if (options->json)
                (void) print_json(line);
        else
                fprintf(stderr, "alidade-probe-compute: %s\n", failure->message);
        return EXIT_FAILURE;
}

static bool means_no_device(const AldFailure *failure)
{
        return failure->kind == ALD_FAILURE_NO_LIBRARY || failure->kind == ALD_FAILURE_NO_PLATFORM ||
               failure->kind == ALD_FAILURE_NO_DEVICE;
}

static char *list_to_json(const GPtrArray *devices)
{
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldListedDevice));
        AldDeviceList list = ALD_DEVICE_LIST_INIT;

        for (guint i = 0; i < devices->len; i++) {
                AldListedDevice row = ((const AldOpenclTarget *) devices->pdata[i])->listed;

                row.platform_rank = ALD_ABSENT_UINT64;
                g_array_append_val(rows, row);
        }
        list.devices.items = rows->data;
        list.devices.n = rows->len;
        return ald_message_format(ALD_KIND_DEVICE_LIST, &list);
}

static int list_devices(const AldComputeOptions *options, const AldRunner *runner, const AldCache *cache)
{
        g_autoptr(GPtrArray) devices = NULL;
        g_autofree char *text = NULL;
        AldFailure failure = {};
        int code;

        if (ald_enumerate(runner, cache, &devices, &failure) < 0 && !means_no_device(&failure)) {
                code = print_failure(options, &failure);
        } else {
                /* To have no device is not a failure, but the reason is worth printing. */
                if (failure.message && !options->json)
                        fprintf(stderr, "%s\n", failure.message);
                if (!devices)
                        devices = ald_devices_new();
                text = options->json ? list_to_json(devices) : ald_compute_list_to_text(devices);
                code = options->json ? print_json(text) : end_output(fputs(text, stdout) >= 0);
        }
        ald_failure_clear(&failure);
        return code;
}

/* Measures a device, and returns whether there is any figure. */
static bool measure_one(const AldComputeOptions *options, const AldRunner *runner,
        const AldOpenclTarget *device, AldComputeReport *report, bool *ret_aborted)
{
        AldProgress progress = { .fd = options->progress_fd, .terminal = isatty(STDERR_FILENO) == 1 };
        g_auto(AldFigures) figures = {};

        ald_figures_measure(runner, options, device, &progress, &figures);
        *ret_aborted = ald_figures_aborted(&figures);
        if (options->json) {
                ald_compute_report_add(report, device, &figures);
        } else {
                g_autofree char *text = ald_compute_to_text(device, &figures);

                fputs(text, stdout);
                fflush(stdout);
        }
        return ald_figures_any(&figures);
}

/* Measures the wanted device, or all of them if that is NULL. */
static int measure_each(const AldComputeOptions *options, const AldRunner *runner, const GPtrArray *devices,
        const AldOpenclTarget *wanted)
{
        g_autoptr(AldComputeReport) report = ald_compute_report_new();
        bool good = true, aborted = false;
        g_autofree char *line = NULL;
        int code;

        for (guint i = 0; i < devices->len && !aborted; i++) {
                const AldOpenclTarget *device = devices->pdata[i];

                if (!wanted || device == wanted)
                        good &= measure_one(options, runner, device, report, &aborted);
        }
        line = options->json ? ald_compute_report_to_json(report) : NULL;
        code = options->json ? print_json(line) : end_output(true);
        return good && !aborted ? code : EXIT_FAILURE;
}

static int measure_devices(const AldComputeOptions *options, const AldRunner *runner, const AldCache *cache)
{
        g_autoptr(GPtrArray) devices = NULL;
        const AldOpenclTarget *wanted = NULL;
        AldFailure failure = {};
        ald_fd int lock = ald_cache_lock(cache, &failure);
        int code;

        if (lock >= 0)
                (void) ald_enumerate(runner, cache, &devices, &failure);
        if (devices && options->device)
                (void) ald_devices_choose(devices, options->device, &wanted, &failure);
        code = failure.message ? print_failure(options, &failure)
                               : measure_each(options, runner, devices, wanted);
        ald_failure_clear(&failure);
        return code;
}

/* Runs the program with a cache folder, and with a descriptor by which it notices signals and ends its
 * children. */
static int list_or_measure(const AldComputeOptions *options)
{
        g_auto(AldCache) cache = {};
        g_auto(GStrv) environment = NULL;
        AldRunner runner = { .timeout = options->timeout, .stop = ald_stop_fd() };
        int r = ald_cache_open(&cache);

        if (runner.stop < 0 || r < 0) {
                fprintf(stderr, "alidade-probe-compute: %s: %s\n",
                        r < 0 ? "cannot open the cache folder" : "cannot wait for signals",
                        strerror(r < 0 ? -r : -runner.stop));
                return EXIT_FAILURE;
        }
        environment = ald_cache_environment(&cache);
        runner.environment = environment;
        return options->mode == ALD_COMPUTE_LIST ? list_devices(options, &runner, &cache)
                                                 : measure_devices(options, &runner, &cache);
}

int main(int argc, char *argv[])
{
        g_auto(AldComputeOptions) options = {};
        g_autofree char *output = NULL, *error = NULL;
        int r;

        ald_command_line_set_up();
        r = ald_compute_options_parse(argc, argv, &options, &output, &error);
        if (r != 0)
                return ald_command_line_end(&ald_compute_command_line, r, output, error);
        if (options.mode == ALD_COMPUTE_CHILD)
                ald_child_run(&options);
        /* If the service that started it died, nothing would stop this process while it holds the lock. Its
         * children die with it. */
        if (options.progress_fd >= 0)
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        return list_or_measure(&options);
}
