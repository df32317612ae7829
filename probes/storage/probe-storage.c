/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/storage/storage-options.h"
#include "probes/storage/storage-report.h"

/* alidade-probe-storage: measures how fast model files can be read. It reads only these, and writes
 * nothing. */

#define MIB (UINT64_C(1) << 20)
#define LENIENT_USEC (UINT64_C(3600) * 1000 * 1000)

static const AldProcessLimits limits = {
        .data_max = 64 * MIB, .files_max = 64, .cpu_seconds_max = 600, .no_new_code = true
};

static int print_failure(const AldStorageOptions *options, AldFailureKind kind, const char *message)
{
        AldFailure failure = {};
        g_autofree char *line = NULL;

        (void) ald_fail(&failure, kind, "%s", message);
        line = options->json ? ald_failure_to_json(&failure) : NULL;
        if (line)
                (void) puts(line);
        else
                fprintf(stderr, "alidade-probe-storage: %s\n", message);
        ald_failure_clear(&failure);
        return EXIT_FAILURE;
}

static int print_report(const AldStorageOptions *options, const AldStorageReport *report, bool good)
{
        g_autofree char *text = options->json ? ald_storage_report_to_json(report)
                                              : ald_storage_report_to_text(report);
        bool printed = text && (options->json ? puts(text) : fputs(text, stdout)) >= 0;

        if (printed && fflush(stdout) == 0)
                return good ? EXIT_SUCCESS : EXIT_FAILURE;
        fputs("alidade-probe-storage: cannot write the result\n", stderr);
        return EXIT_FAILURE;
}

/* Measures one file system, and returns whether it has a figure. Sets *ret_aborted after a signal, which ends
 * all measurements. */
static bool measure_one(const AldStorageOptions *options, uint64_t now_realtime, int stop,
        const AldModelFileSystem *found, AldStorageReport *report, bool *ret_aborted)
{
        AldProgress progress = {
                .fd = options->progress_fd,
                .terminal = isatty(STDERR_FILENO) == 1,
                .label = found->mount->point,
                .device = found->mount->point,
        };
        const AldStorageReadOptions how = {
                .root = options->root,
                .bytes = options->bytes,
                .now_realtime = now_realtime,
                .gives_way = options->gives_way,
                .stop = stop,
                .progress = &progress,
        };
        AldStorageMeasure measure;
        AldFailure failure = {};
        bool good = ald_storage_measure(found, &how, &measure, &failure) >= 0;

        ald_progress_end(&progress);
        *ret_aborted = !good && failure.kind == ALD_FAILURE_ABORTED;
        ald_storage_report_add(report, found, &measure, good ? NULL : &failure, (uint64_t) g_get_real_time());
        ald_failure_clear(&failure);
        return good;
}

static int measure_each(
        const AldStorageOptions *options, uint64_t now_realtime, int stop, const AldStorageSearch *search)
{
        g_autoptr(AldStorageReport) report = ald_storage_report_new();
        bool good = search->problems->len == 0, aborted = false, any = false;

        for (guint i = 0; i < search->file_systems->len && !aborted; i++) {
                const AldModelFileSystem *found = search->file_systems->pdata[i];

                if (options->file_system && !g_str_equal(options->file_system, found->mount->point))
                        continue;
                any = true;
                if (options->lists || found->obstacle != ALD_STORAGE_READABLE)
                        ald_storage_report_add(report, found, NULL, NULL, 0);
                if (options->lists)
                        continue;
                good &= found->obstacle == ALD_STORAGE_READABLE &&
                        measure_one(options, now_realtime, stop, found, report, &aborted);
        }
        for (guint i = 0; i < search->problems->len; i++)
                ald_storage_report_add_problem(report, search->problems->pdata[i]);
        if (!any && options->file_system)
                return print_failure(options, ALD_FAILURE_NO_SUCH_DEVICE, "no models were found on it");
        if (!any && !options->lists && search->problems->len == 0)
                return print_failure(options, ALD_FAILURE_NO_DEVICE, "no models were found");
        return print_report(options, report, good || options->lists);
}

static int search_and_measure(const AldStorageOptions *options)
{
        const AldStorageSearchOptions what = {
                .root = options->root,
                .paths = (const char *const *) options->paths,
                .only = options->file_system,
                .still = (const char *const *) options->still,
                .optional = options->optional,
                .with_loop = options->lenient,
                .now_realtime = (uint64_t) g_get_real_time() + (options->lenient ? LENIENT_USEC : 0),
        };
        g_auto(AldStorageSearch) search = {};
        int stop = ald_stop_fd();
        int r = stop < 0 ? stop : ald_storage_search(&what, &search);

        if (r < 0)
                return print_failure(options, ALD_FAILURE_INTERNAL,
                        stop < 0 ? "cannot wait for signals" : "cannot list the mounts");
        return measure_each(options, what.now_realtime, stop, &search);
}

int main(int argc, char *argv[])
{
        g_auto(AldStorageOptions) options = {};
        g_autofree char *output = NULL, *error = NULL;
        int r;

        ald_command_line_set_up();
        r = ald_storage_options_parse(argc, argv, &options, &output, &error);
        if (r != 0)
                return ald_command_line_end(&ald_storage_command_line, r, output, error);
        if (ald_process_limits_apply(&limits, options.progress_fd >= 0 ? SIGKILL : 0, getppid()) < 0)
                return print_failure(&options, ALD_FAILURE_ABORTED, "the parent process has ended");
        return search_and_measure(&options);
}
