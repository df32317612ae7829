/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/compute/device-json.h"
#include "probes/compute/devices.h"
#include "probes/compute/enumerate.h"
#include "probes/compute/lock.h"
#include "probes/compute/program.h"
#include "probes/compute/result.h"
#include "probes/fd.h"

static int end_output(bool printed)
{
        if (printed && fflush(stdout) == 0 && !ferror(stdout))
                return EXIT_SUCCESS;
        fputs("alidade-probe-compute: the result cannot be written\n", stderr);
        return EXIT_FAILURE;
}

/* Nine digits are more than any of it is worth. Takes the object. */
static int print_json(json_t *object)
{
        int r = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));

        json_decref(object);
        return end_output(r == 0 && puts("") >= 0);
}

/* Of one device where one was asked for. */
static int print_failure(const AldComputeOptions *options, const AldFailure *failure)
{
        if (options->json)
                (void) print_json(json_pack("{s:s*, s:o*, s:s, s:s}", "Id", options->device, "Devices",
                        options->device ? NULL : json_array(), "error", ald_failure_to_string(failure->kind),
                        "message", failure->message));
        else
                fprintf(stderr, "alidade-probe-compute: %s\n", failure->message);
        return EXIT_FAILURE;
}

static bool is_nothing_there(const AldFailure *failure)
{
        return failure->kind == ALD_FAILURE_NO_LIBRARY || failure->kind == ALD_FAILURE_NO_PLATFORM ||
               failure->kind == ALD_FAILURE_NO_DEVICE;
}

static int print_list(const AldComputeOptions *options, const GPtrArray *devices)
{
        json_t *rows = json_array();
        g_autofree char *text = NULL;

        for (guint i = 0; i < devices->len; i++)
                json_array_append_new(rows, ald_device_describe(devices->pdata[i]));
        if (options->json)
                return print_json(json_pack("{s:o}", "Devices", rows));
        json_decref(rows);
        text = ald_compute_list_to_text(devices);
        return end_output(fputs(text, stdout) >= 0);
}

int ald_program_list(const AldComputeOptions *options, const AldRunner *runner, const AldCache *cache)
{
        g_autoptr(GPtrArray) devices = NULL;
        AldFailure failure = {};
        int code;

        if (ald_enumerate(runner, cache, &devices, &failure) < 0 && !is_nothing_there(&failure)) {
                code = print_failure(options, &failure);
        } else {
                /* Why there is none is no failure, but worth a word. */
                if (failure.message && !options->json)
                        fprintf(stderr, "%s\n", failure.message);
                if (!devices)
                        devices = ald_devices_new();
                code = print_list(options, devices);
        }
        ald_failure_clear(&failure);
        return code;
}

/* Returns whether there is any figure. */
static bool measure_one(const AldComputeOptions *options, const AldRunner *runner, const AldDevice *device,
        json_t *rows, bool *ret_aborted)
{
        AldProgress progress = { .fd = options->progress_fd, .terminal = isatty(STDERR_FILENO) == 1 };
        g_auto(AldFigures) figures = {};

        ald_figures_measure(runner, options, device, &progress, &figures);
        *ret_aborted = ald_figures_aborted(&figures);
        if (options->json) {
                json_array_append_new(rows, ald_compute_to_json(device, &figures));
        } else {
                g_autofree char *text = ald_compute_to_text(device, &figures);

                fputs(text, stdout);
                fflush(stdout);
        }
        return ald_figures_any(&figures);
}

/* wanted: NULL for all of them. */
static int measure(const AldComputeOptions *options, const AldRunner *runner, const GPtrArray *devices,
        const AldDevice *wanted)
{
        json_t *rows = json_array(), *result;
        bool good = true, aborted = false;
        int code;

        for (guint i = 0; i < devices->len && !aborted; i++) {
                const AldDevice *device = devices->pdata[i];

                if (!wanted || device == wanted)
                        good &= measure_one(options, runner, device, rows, &aborted);
        }
        result = options->device ? json_incref(json_array_get(rows, 0)) : json_pack("{s:O}", "Devices", rows);
        json_decref(rows);
        code = options->json ? print_json(json_incref(result)) : end_output(true);
        json_decref(result);
        return good && !aborted ? code : EXIT_FAILURE;
}

int ald_program_measure(const AldComputeOptions *options, const AldRunner *runner, const AldCache *cache)
{
        g_autoptr(GPtrArray) devices = NULL;
        const AldDevice *wanted = NULL;
        AldFailure failure = {};
        ald_fd int lock = ald_lock_take(cache, &failure);
        int code;

        if (lock >= 0)
                (void) ald_enumerate(runner, cache, &devices, &failure);
        if (devices && options->device)
                (void) ald_devices_choose(devices, options->device, &wanted, &failure);
        code = failure.message ? print_failure(options, &failure) : measure(options, runner, devices, wanted);
        ald_failure_clear(&failure);
        return code;
}
