/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clients/alidadectl/links/inhibitor-list.h"
#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/probe-report.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "common/error-names.h"

#define CLEAR_LINE "\r\033[K"
#define LABEL_WIDTH 10
#define BUSY "busy:" /* begins the reason if other work kept a device from being measured */
#define NAMED_MAX 10u

static bool can_draw(void)
{
        const char *term = getenv("TERM");

        return isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

static unsigned terminal_columns(void)
{
        struct winsize size = { 0 };

        return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) >= 0 && size.ws_col > 1 ? size.ws_col : 80;
}

AldJobProgress ald_job_progress_begin(bool for_program)
{
        AldJobProgress progress = { .bar = can_draw() };

        progress.quiet = for_program && !progress.bar;
        return progress;
}

static char *describe_progress(const AldJobProgress *progress, const AldProbeJob *job, const char *name)
{
        g_autofree char *step = NULL;

        /* The last column is left free, since text in it would wrap in some terminals. */
        if (progress->bar)
                return ald_job_progress(job, name, terminal_columns() - 1);
        step = ald_job_step(job);
        return g_strdup_printf("%s: %s", name, step);
}

void ald_job_progress_show(AldJobProgress *progress, const AldProbeJob *job, const char *name)
{
        g_autofree char *text = describe_progress(progress, job, name), *rendered = NULL;

        if (progress->quiet || g_strcmp0(text, progress->shown) == 0)
                return;
        rendered = ald_text_render(text, false, g_get_charset(NULL));
        if (progress->bar)
                fprintf(stderr, CLEAR_LINE "%s", rendered);
        else
                fprintf(stderr, "%s\n", rendered);
        fflush(stderr);
        g_free(progress->shown);
        progress->shown = g_steal_pointer(&text);
}

void ald_job_progress_end(AldJobProgress *progress)
{
        if (progress->bar && progress->shown)
                fputs(CLEAR_LINE, stderr);
        g_clear_pointer(&progress->shown, g_free);
}

void ald_job_progress_clear(AldJobProgress *progress)
{
        g_clear_pointer(&progress->shown, g_free);
}

/* Prints who keeps the probe away, and why. */
static void print_inhibitors(AldProbeRequest *probe)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GPtrArray) locks = NULL;
        unsigned n = 0;

        if (ald_inhibitors_read(probe->bus, &locks, &error) < 0)
                return;
        for (guint i = 0; i < locks->len; i++) {
                const AldProbeLock *lock = locks->pdata[i];

                if (ald_probe_lock_holds(lock, probe->order->call.words) && n++ < NAMED_MAX)
                        ald_print_error("  %s: %s", lock->who, lock->why);
        }
        if (n > NAMED_MAX)
                ald_print_error("  and %u more; see \"alidadectl inhibit --list\"", n - NAMED_MAX);
}

int ald_probe_print_error(AldProbeRequest *probe, const sd_bus_error *error)
{
        g_autofree char *what = g_strdup_printf("Cannot probe %s", probe->order->label);
        int r = ald_bus_print_error(error, what, ALD_LINK_PROBE_UNIT);

        if (sd_bus_error_has_name(error, ALD_ERROR_INHIBITED))
                print_inhibitors(probe);
        else if (sd_bus_error_has_name(error, ALD_ERROR_NOT_JOINED))
                ald_print_error("\"alidadectl cluster join\" adds this machine to a cluster");
        return r;
}

static int print_as_json(AldProbeRequest *probe)
{
        json_t *object = json_copy(ald_job_run_json(probe->run));
        int r;

        json_object_del(object, "Phase");
        json_object_del(object, "Progress");
        if (json_array_size(json_object_get(object, "Paths")) == 0)
                json_object_del(object, "Paths");
        r = ald_print_json(&probe->order->ctl, object);
        json_decref(object);
        return r;
}

/* Does not use a pager, since the next path follows soon. */
static int print_path(AldProbeRequest *probe, const AldProbedPath *path)
{
        g_autoptr(GString) out = g_string_new(probe->printed ? "\n" : "");
        AldStyleInfo info = ald_style_info();
        AldCtl ctl = probe->order->ctl;

        ctl.pager = false;
        probe->printed = true;
        ald_probed_path_describe(out, path, probe->order->label, info.columns);
        return ald_print(&ctl, &info, out->str);
}

static void print_path_error(const AldProbeRequest *probe, const AldProbedPath *path)
{
        g_autofree char *ends = ald_probed_path_ends(path), *reason = ald_job_reason(path->row.error);

        ald_print_error("%s over %s was not measured: %s", probe->order->label, ends, reason);
}

static bool has_failed(const AldProbeRequest *probe)
{
        return g_strcmp0(ald_job_run_job(probe->run)->state,
                       ald_probe_job_state_to_string(ALD_PROBE_JOB_STATE_FAILED)) == 0;
}

static bool is_done(const AldProbeRequest *probe)
{
        return g_strcmp0(ald_job_run_job(probe->run)->state,
                       ald_probe_job_state_to_string(ALD_PROBE_JOB_STATE_DONE)) == 0;
}

void ald_probe_report_paths(AldProbeRequest *probe)
{
        const json_t *paths = json_object_get(ald_job_run_json(probe->run), "Paths");
        size_t n = json_array_size(paths);

        /* If the job failed, its end reports the last path. */
        if (has_failed(probe) && n > 0)
                n--;
        if (probe->order->ctl.json || probe->n_reported >= n)
                return;
        ald_job_progress_end(&probe->progress);
        for (; probe->n_reported < n; probe->n_reported++) {
                g_auto(AldProbedPath) path = {};

                ald_probed_path_read(
                        &path, probe->order->call.words->result, json_array_get(paths, probe->n_reported));
                if (path.row.error)
                        print_path_error(probe, &path);
                else
                        (void) print_path(probe, &path);
        }
}

/* Prints the whole result, one row after the other. */
static int print_result(const AldProbeRequest *probe)
{
        const AldProbeWords *words = probe->order->call.words;
        g_autoptr(GPtrArray) rows = words->facts(words, probe->order->label, ald_job_run_json(probe->run));
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        for (guint i = 0; i < rows->len; i++) {
                if (i > 0)
                        g_string_append_c(out, '\n');
                ald_describe_facts(out, rows->pdata[i], LABEL_WIDTH, info.columns);
        }
        if (out->len == 0) {
                ald_print_error("Cannot read the result of the probe of %s", probe->order->label);
                return ALD_EXIT_ERROR;
        }
        return ald_print(&probe->order->ctl, &info, out->str);
}

static void print_failure(const AldProbeOrder *order, const char *reason)
{
        ald_print_error("The probe of %s failed: %s", order->label, reason);
        if (order->call.words->all && !order->call.force && g_str_has_prefix(reason, BUSY))
                ald_print_error("Try again when the machine is idle; --force measures alongside other work");
}

int ald_probe_report(AldProbeRequest *probe)
{
        g_autofree char *reason = ald_job_reason(ald_job_run_job(probe->run)->error);
        int r = ALD_EXIT_OK;

        if (probe->order->ctl.json)
                r = print_as_json(probe);
        else
                ald_probe_report_paths(probe);
        if (!probe->order->ctl.json && is_done(probe))
                r = probe->printed ? ald_print_finish() : print_result(probe);
        if (r != ALD_EXIT_OK || is_done(probe))
                return r;
        if (has_failed(probe))
                print_failure(probe->order, reason);
        else
                ald_print_error("The probe of %s was canceled", probe->order->label);
        return ALD_EXIT_ERROR;
}
