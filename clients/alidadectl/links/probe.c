/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include "clients/alidadectl/agent.h"
#include "clients/alidadectl/links/probe-report.h"
#include "clients/alidadectl/signal-source.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "clients/common/safe-text.h"
#include "common/bus-source.h"
#include "common/source.h"

static void end_loop(AldProbeRequest *probe, int exit_code)
{
        probe->exit_code = exit_code;
        g_main_loop_quit(probe->loop);
}

static void stop_agent(AldProbeRequest *probe)
{
        ald_agent_stop(probe->agent);
        probe->agent = 0;
}

/* Returns false if the loop is already ending: further messages of the same iteration are then ignored. */
static bool end_progress(AldProbeRequest *probe)
{
        if (!g_main_loop_is_running(probe->loop))
                return false;
        stop_agent(probe);
        ald_job_progress_end(&probe->progress);
        return true;
}

static void abandon_job(AldProbeRequest *probe)
{
        if (!end_progress(probe))
                return;
        ald_print_error("The probe of %s did not stop when canceled", probe->order->label);
        end_loop(probe, ALD_EXIT_ERROR);
}

static void on_ended(AldJobRun *run, const sd_bus_error *error, void *userdata)
{
        AldProbeRequest *probe = userdata;

        if (error && sd_bus_error_has_name(error, ALD_JOB_NOT_STOPPED))
                abandon_job(probe);
        else if (end_progress(probe))
                end_loop(probe, error ? ald_probe_print_error(probe, error) : ald_probe_report(probe));
}

static void on_changed(AldJobRun *run, void *userdata)
{
        AldProbeRequest *probe = userdata;
        const AldProbeJob *job = ald_job_run_job(run);
        /* The label of a link names both ends, so it is kept. */
        bool named = probe->order->call.words->all && job->device && *job->device;
        g_autofree char *name = named ? ald_text_safe(job->device) : g_strdup(probe->order->label);

        stop_agent(probe);
        ald_probe_report_paths(probe);
        ald_job_progress_show(&probe->progress, job, name);
}

/* sd-bus itself reports only that the other side hung up. */
static void on_closed(sd_bus *bus, int error, void *userdata)
{
        g_auto(sd_bus_error) reason = SD_BUS_ERROR_NULL;
        AldProbeRequest *probe = userdata;

        sd_bus_close(bus); /* flushing could block forever */
        ald_bus_closed_error(error, &reason);
        on_ended(probe->run, &reason, probe);
}

/* The first signal cancels the job; a second one ends the wait for that. */
static void on_signal(int number, void *userdata)
{
        AldProbeRequest *probe = userdata;

        if (probe->canceled) {
                abandon_job(probe);
                return;
        }
        probe->canceled = true;
        ald_job_run_cancel(probe->run);
        stop_agent(probe); /* and its prompt, which delays the reply */
}

static int start_job(AldProbeRequest *probe)
{
        static const AldJobRunHandler handler = { .changed = on_changed, .ended = on_ended };
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
        AldJobCall call = probe->order->call;
        int r;

        probe->loop = g_main_loop_new(NULL, FALSE);
        probe->bus_source = ald_bus_source_new(probe->bus, on_closed, probe);
        /* The agent starts before signals are blocked, since it would inherit that. */
        probe->agent = ald_agent_start(&probe->order->ctl);
        r = ald_signal_source_new(signals, on_signal, probe, &probe->signals);
        if (r < 0)
                return r;
        call.asks = ald_agent_may_ask(&probe->order->ctl);
        return ald_job_run_start(probe->bus, &call, &handler, probe, &probe->run);
}

static void probe_clear(AldProbeRequest *probe)
{
        ald_agent_stop(probe->agent);
        ald_job_run_free(probe->run);
        ald_source_clear(&probe->bus_source);
        ald_source_clear(&probe->signals);
        sd_bus_flush_close_unref(probe->bus);
        g_clear_pointer(&probe->loop, g_main_loop_unref);
        ald_job_progress_clear(&probe->progress);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbeRequest, probe_clear)

int ald_probe_run(const AldProbeOrder *order)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(AldProbeRequest)
                probe = { .order = order, .progress = ald_job_progress_begin(order->ctl.json) };
        int r;

        r = ald_bus_open(&order->ctl, &probe.bus);
        if (r != ALD_EXIT_OK)
                return r;
        if (ald_bus_await(probe.bus, ALD_LINK_PROBE_NAME, &error) < 0)
                return ald_probe_print_error(&probe, &error);
        r = start_job(&probe);
        if (r < 0) {
                ald_print_error("Cannot probe %s: %s", order->label, strerror(-r));
                return ALD_EXIT_ERROR;
        }
        g_main_loop_run(probe.loop);
        return probe.exit_code;
}
