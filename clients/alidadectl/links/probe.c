/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "clients/alidadectl/agent.h"
#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/probe-report.h"
#include "clients/alidadectl/signal-source.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "clients/command-line/text.h"
#include "common/bus-source.h"
#include "common/source.h"
#include "state-client/value.h"

#define ASKING_USEC (UINT64_C(120) * 1000 * 1000) /* a person types a password meanwhile */
#define CANCEL_MSEC 5000

static void end_loop(AldProbeRequest *probe, int exit_code)
{
        probe->exit_code = exit_code;
        g_main_loop_quit(probe->loop);
}

/* Returns false if the loop is ending already: messages of the same iteration are ignored then. */
static bool end_progress(AldProbeRequest *probe)
{
        if (!g_main_loop_is_running(probe->loop))
                return false;
        ald_job_progress_end(&probe->progress);
        return true;
}

static void finish(AldProbeRequest *probe)
{
        if (end_progress(probe))
                end_loop(probe, ald_probe_report(probe));
}

/* Ends the loop with what an error means. */
static void fail(AldProbeRequest *probe, const sd_bus_error *error)
{
        if (end_progress(probe))
                end_loop(probe, ald_probe_print_error(probe, error));
}

static void fail_errno(AldProbeRequest *probe, int r)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        ald_bus_ensure_error(&error, r);
        fail(probe, &error);
}

static void show(AldProbeRequest *probe)
{
        const char *device = probe->job.device;
        /* Of a link both ends matter. */
        bool named = device && *device && !probe->order->rdma;
        g_autofree char *name = named ? ald_text_safe(device) : g_strdup(probe->order->label);

        ald_probe_report_paths(probe);
        ald_job_progress_show(&probe->progress, &probe->job, name);
}

/* Takes ownership of the properties. */
static void set_job(AldProbeRequest *probe, json_t *json)
{
        json_decref(probe->json);
        probe->json = json;
        ald_value_to_struct(json, &ald_probe_job_struct, &probe->job);
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldProbeRequest *probe = userdata;
        json_t *json;
        int r;

        if (sd_bus_message_is_method_error(m, NULL)) {
                fail(probe, sd_bus_message_get_error(m));
                return 0;
        }
        json = json_object();
        r = sd_bus_message_has_signature(m, "a{sv}") > 0 ? ald_value_read_dict(m, json, NULL) : -EBADMSG;
        set_job(probe, json);
        if (r < 0)
                fail_errno(probe, r);
        else if (ald_job_has_ended(&probe->job))
                finish(probe);
        else
                show(probe);
        return 0;
}

static void read_job(AldProbeRequest *probe)
{
        int r;

        probe->call = sd_bus_slot_unref(probe->call);
        r = sd_bus_call_method_async(probe->bus, &probe->call, probe->service, probe->path,
                "org.freedesktop.DBus.Properties", "GetAll", on_properties, probe, "s", ALD_JOB_INTERFACE);
        if (r < 0)
                fail_errno(probe, r);
}

static int on_canceled(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldProbeRequest *probe = userdata;

        if (sd_bus_message_is_method_error(m, NULL))
                fail(probe, sd_bus_message_get_error(m));
        else
                read_job(probe);
        return 0;
}

static void cancel_job(AldProbeRequest *probe)
{
        int r;

        probe->cancel = sd_bus_slot_unref(probe->cancel);
        r = sd_bus_call_method_async(probe->bus, &probe->cancel, probe->service, probe->path,
                ALD_JOB_INTERFACE, "Cancel", on_canceled, probe, "");
        if (r < 0)
                fail_errno(probe, r);
}

static int on_started(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldProbeRequest *probe = userdata;
        const char *path;
        int r;

        ald_agent_stop(probe->agent);
        probe->agent = 0;
        if (sd_bus_message_is_method_error(m, NULL)) {
                fail(probe, sd_bus_message_get_error(m));
                return 0;
        }
        r = sd_bus_message_read(m, "o", &path);
        if (r < 0) {
                fail_errno(probe, r);
                return 0;
        }
        probe->path = g_strdup(path);
        probe->service = g_strdup(sd_bus_message_get_sender(m));
        if (probe->canceled)
                cancel_job(probe);
        else
                read_job(probe);
        return 0;
}

/* Any client may send such a signal, so only those of the service that runs the job count. */
static bool is_of_our_job(const AldProbeRequest *probe, sd_bus_message *m)
{
        return probe->path && g_strcmp0(sd_bus_message_get_sender(m), probe->service) == 0 &&
               g_strcmp0(sd_bus_message_get_path(m), probe->path) == 0;
}

/* Sets the properties that have changed, and removes those that are absent now. */
static int update_job(AldProbeRequest *probe, sd_bus_message *m)
{
        json_t *json = json_copy(probe->json), *absent = json_array(), *name;
        int r = ald_value_read_dict(m, json, absent);
        size_t i;

        json_array_foreach(absent, i, name)
                json_object_del(json, json_string_value(name));
        json_decref(absent);
        set_job(probe, json);
        return r;
}

static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldProbeRequest *probe = userdata;
        const char *interface;

        if (!is_of_our_job(probe, m) || !probe->json || sd_bus_message_has_signature(m, "sa{sv}as") <= 0 ||
                sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface) < 0 ||
                strcmp(interface, ALD_JOB_INTERFACE) != 0 || update_job(probe, m) < 0)
                return 0;
        /* What belongs to the end may come in several signals. */
        if (ald_job_has_ended(&probe->job))
                read_job(probe);
        else
                show(probe);
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldProbeRequest *probe = userdata;
        const char *name, *old, *new;

        if (probe->service && sd_bus_message_read(m, "sss", &name, &old, &new) >= 0 &&
                strcmp(old, probe->service) == 0)
                fail(probe, &SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_DISCONNECTED,
                                    ALD_LINK_PROBE_NAME " disappeared, and the probe was lost"));
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        ald_bus_closed_error(-ECONNRESET, &error);
        fail(userdata, &error);
        return 0;
}

/* sd-bus itself reports only that the other side hung up. */
static void on_closed(sd_bus *bus, int error, void *userdata)
{
        g_auto(sd_bus_error) reason = SD_BUS_ERROR_NULL;

        sd_bus_close(bus); /* flushing could block forever */
        ald_bus_closed_error(error, &reason);
        fail(userdata, &reason);
}

static gboolean on_cancel_timeout(void *userdata)
{
        AldProbeRequest *probe = userdata;

        if (!end_progress(probe))
                return G_SOURCE_REMOVE;
        ald_print_error("The probe of %s did not stop when canceled", probe->order->label);
        end_loop(probe, ALD_EXIT_ERROR);
        return G_SOURCE_REMOVE;
}

/* The first signal cancels the job; a second one ends the wait for that. */
static void on_signal(int number, void *userdata)
{
        AldProbeRequest *probe = userdata;

        if (probe->canceled) {
                (void) on_cancel_timeout(probe);
                return;
        }
        probe->canceled = true;
        if (probe->path)
                cancel_job(probe);
        ald_agent_stop(probe->agent); /* and with it the question that keeps the answer away */
        probe->agent = 0;
        probe->cancel_timeout = g_timeout_source_new(CANCEL_MSEC);
        g_source_set_callback(probe->cancel_timeout, on_cancel_timeout, probe, NULL);
        g_source_attach(probe->cancel_timeout, NULL);
}

static int add_matches(AldProbeRequest *probe)
{
        static const struct {
                const char *rule;
                sd_bus_message_handler_t callback;
        } matches[] = {
                { "type='signal',sender='" ALD_LINK_PROBE_NAME "',path_namespace='" ALD_LINK_PROBE_PATH
                  "/job',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
                        on_changed },
                { "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                  "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" ALD_LINK_PROBE_NAME "'",
                        on_owner_changed },
                { "type='signal',sender='org.freedesktop.DBus.Local',"
                  "interface='org.freedesktop.DBus.Local',member='Disconnected'",
                        on_disconnected },
        };
        int r = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(matches) && r >= 0; i++)
                r = sd_bus_add_match_async(
                        probe->bus, NULL, matches[i].rule, matches[i].callback, NULL, probe);
        return r;
}

static int append_metrics(sd_bus_message *m, char **metrics)
{
        int r = sd_bus_message_open_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv");

        if (r >= 0)
                r = sd_bus_message_append(m, "s", "Metrics");
        if (r >= 0)
                r = sd_bus_message_open_container(m, SD_BUS_TYPE_VARIANT, "as");
        if (r >= 0)
                r = sd_bus_message_append_strv(m, metrics);
        for (unsigned i = 0; r >= 0 && i < 2; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

static int append_options(sd_bus_message *m, const AldProbeOrder *order)
{
        int r = sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "{sv}");

        if (r >= 0 && order->metrics)
                r = append_metrics(m, order->metrics);
        if (r >= 0 && order->force)
                r = sd_bus_message_append(m, "{sv}", "Force", "b", true);
        if (r >= 0 && order->address)
                r = sd_bus_message_append(m, "{sv}", "Address", "s", order->address);
        if (r >= 0 && order->rtt_only)
                r = sd_bus_message_append(m, "{sv}", "RttOnly", "b", true);
        if (r >= 0 && order->port)
                r = sd_bus_message_append(m, "{sv}", "Port", "s", order->port);
        if (r >= 0 && order->peer_port)
                r = sd_bus_message_append(m, "{sv}", "PeerPort", "s", order->peer_port);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static const char *method_of(const AldProbeOrder *order)
{
        return order->device ? "ProbeCompute" : order->rdma ? "ProbeRdma" : "ProbeLink";
}

static int start_job(AldProbeRequest *probe)
{
        const AldProbeOrder *order = probe->order;
        bool interactive = ald_agent_may_ask(order->ctl);
        g_autoptr(AldMessage) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(probe->bus, &m, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH,
                ALD_LINK_PROBE_INTERFACE, method_of(order));
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(m, interactive);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", order->device ?: order->node);
        if (r >= 0)
                r = append_options(m, order);
        if (r >= 0)
                r = sd_bus_call_async(
                        probe->bus, &probe->call, m, on_started, probe, interactive ? ASKING_USEC : 0);
        return r;
}

static int prepare(AldProbeRequest *probe)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
        int r;

        probe->loop = g_main_loop_new(NULL, FALSE);
        probe->bus_source = ald_bus_source_new(probe->bus, on_closed, probe);
        r = add_matches(probe);
        if (r < 0)
                return r;
        probe->agent = ald_agent_start(probe->order->ctl); /* before signals are blocked, for it as well */
        r = ald_signal_source_new(signals, on_signal, probe, &probe->signals);
        return r < 0 ? r : start_job(probe);
}

static void probe_clear(AldProbeRequest *probe)
{
        ald_agent_stop(probe->agent);
        sd_bus_slot_unref(probe->call);
        sd_bus_slot_unref(probe->cancel);
        ald_source_clear(&probe->bus_source);
        ald_source_clear(&probe->signals);
        ald_source_clear(&probe->cancel_timeout);
        sd_bus_flush_close_unref(probe->bus);
        g_clear_pointer(&probe->loop, g_main_loop_unref);
        json_decref(probe->json);
        g_free(probe->path);
        g_free(probe->service);
        ald_job_progress_clear(&probe->progress);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbeRequest, probe_clear)

int ald_probe_run(const AldProbeOrder *order)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(AldProbeRequest)
                probe = { .order = order, .progress = ald_job_progress_begin(order->ctl->json) };
        int r;

        r = ald_bus_open(order->ctl, &probe.bus);
        if (r != ALD_EXIT_OK)
                return r;
        if (ald_bus_await(probe.bus, ALD_LINK_PROBE_NAME, &error) < 0)
                return ald_probe_print_error(&probe, &error);
        r = prepare(&probe);
        if (r < 0) {
                ald_print_error("Cannot probe %s: %s", order->label, strerror(-r));
                return ALD_EXIT_ERROR;
        }
        g_main_loop_run(probe.loop);
        return probe.exit_code;
}
