/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/common/connection.h"
#include "clients/common/probes/job-run.h"
#include "clients/common/probes/job-words.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/source.h"
#include "record/translate.h"
#include "state-client/value.h"

#define JOB_INTERFACE "org.alidade.LinkProbe1.Job"
#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"
#define SILENCE_USEC (10 * G_USEC_PER_SEC) /* then the service is asked whether it still answers */
#define CANCEL_USEC (5 * G_USEC_PER_SEC)

enum { CHANGES, OWNER, N_MATCHES };

struct AldJobRun {
        sd_bus *bus;
        const AldJobRunHandler *handler;
        void *userdata;
        sd_bus_slot *start, *reading, *canceling;
        sd_bus_slot *matches[N_MATCHES];
        char *service, *path; /* NULL before it has started */
        json_t *json;         /* its properties, as received */
        AldProbeJob job;      /* strings belong to `json` */
        bool is_read, canceled;
        GSource *silence, *cancel_timeout;
};

static void disconnect(AldJobRun *run)
{
        /* A job that starts later still has to be canceled. */
        if (run->start && run->canceled) {
                (void) sd_bus_slot_set_userdata(run->start, NULL);
                (void) sd_bus_slot_set_floating(run->start, true);
        }
        ald_source_clear(&run->silence);
        ald_source_clear(&run->cancel_timeout);
        run->start = sd_bus_slot_unref(run->start);
        run->reading = sd_bus_slot_unref(run->reading);
        run->canceling = sd_bus_slot_unref(run->canceling);
        for (unsigned i = 0; i < N_MATCHES; i++)
                run->matches[i] = sd_bus_slot_unref(run->matches[i]);
}

static void end_run(AldJobRun *run, const sd_bus_error *error)
{
        disconnect(run);
        run->handler->ended(run, error, run->userdata);
}

static void end_with_error(AldJobRun *run, const char *name, const char *words)
{
        const sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(name, words);

        end_run(run, &error);
}

static void end_unreadable(AldJobRun *run)
{
        end_with_error(run, SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply does not match the interface");
}

/* Calls back after each interval of `usec`, until the source is cleared. */
static GSource *timer_new(gint64 usec, GSourceFunc callback, AldJobRun *run)
{
        GSource *source = g_timeout_source_new((guint) (usec / 1000));

        g_source_set_callback(source, callback, run, NULL);
        g_source_attach(source, g_main_context_get_thread_default());
        return source;
}

/* Takes the properties, as JSON. */
static void set_job(AldJobRun *run, json_t *json)
{
        json_decref(run->json);
        run->json = json;
        ald_value_to_struct(json, &ald_probe_job_struct, &run->job);
}

static void restart_silence_timer(AldJobRun *run)
{
        g_source_set_ready_time(run->silence, g_get_monotonic_time() + SILENCE_USEC);
}

/* A service that has restarted under the same name, or that removed the job long ago, has no such object. */
static bool is_gone(const sd_bus_error *error)
{
        return sd_bus_error_has_names(error, SD_BUS_ERROR_UNKNOWN_OBJECT, SD_BUS_ERROR_UNKNOWN_METHOD,
                SD_BUS_ERROR_UNKNOWN_INTERFACE);
}

static void handle_failed_read(AldJobRun *run, const sd_bus_error *error)
{
        if (!is_gone(error))
                end_run(run, error);
        else if (run->canceled || ald_job_has_ended(&run->job))
                end_run(run, NULL);
        else
                end_with_error(
                        run, SD_BUS_ERROR_FAILED, _("the service does not know the measurement any more"));
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldJobRun *run = userdata;
        json_t *json;
        int r;

        run->reading = sd_bus_slot_unref(run->reading);
        if (sd_bus_message_is_method_error(m, NULL)) {
                handle_failed_read(run, sd_bus_message_get_error(m));
                return 0;
        }
        json = json_object();
        r = sd_bus_message_has_signature(m, "a{sv}") > 0 ? ald_value_read_dict(m, json, NULL) : -EBADMSG;
        set_job(run, json);
        run->is_read = true;
        if (r < 0) {
                end_unreadable(run);
        } else if (ald_job_has_ended(&run->job)) {
                end_run(run, NULL);
        } else {
                restart_silence_timer(run);
                run->handler->changed(run, run->userdata);
        }
        return 0;
}

static void read_job(AldJobRun *run)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        run->reading = sd_bus_slot_unref(run->reading);
        r = sd_bus_call_method_async(run->bus, &run->reading, run->service, run->path, PROPERTIES_INTERFACE,
                "GetAll", on_properties, run, "s", JOB_INTERFACE);
        if (r >= 0)
                return;
        (void) sd_bus_error_set_errno(&error, r);
        end_run(run, &error);
}

static gboolean on_silence(void *userdata)
{
        AldJobRun *run = userdata;

        if (!run->reading)
                read_job(run);
        return G_SOURCE_CONTINUE;
}

static int on_cancel_answered(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const sd_bus_error *error = sd_bus_message_get_error(m);
        AldJobRun *run = userdata;

        run->canceling = sd_bus_slot_unref(run->canceling);
        /* The job may have ended before; then its end is being read, or the job itself is gone. */
        if (!error || is_gone(error))
                read_job(run);
        else if (!ald_job_has_ended(&run->job))
                end_run(run, error);
        return 0;
}

/* If the call cannot be made, the timeout ends the run. */
static void call_cancel(AldJobRun *run)
{
        (void) sd_bus_call_method_async(run->bus, &run->canceling, run->service, run->path, JOB_INTERFACE,
                "Cancel", on_cancel_answered, run, "");
}

static void follow_job(AldJobRun *run, sd_bus_message *m, const char *path)
{
        run->path = g_strdup(path);
        run->service = g_strdup(sd_bus_message_get_sender(m));
        run->silence = timer_new(SILENCE_USEC, on_silence, run);
        if (run->canceled)
                call_cancel(run);
        else
                read_job(run);
}

/* The run is NULL if it was canceled and freed before the job started, such as while a person was asked for a
 * password. */
static int on_started(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldJobRun *run = userdata;
        const char *path = NULL;
        bool refused = sd_bus_message_is_method_error(m, NULL);

        if (!refused)
                (void) sd_bus_message_read(m, "o", &path);
        if (!run && path)
                (void) sd_bus_call_method_async(sd_bus_message_get_bus(m), NULL, sd_bus_message_get_sender(m),
                        path, JOB_INTERFACE, "Cancel", NULL, NULL, "");
        if (!run)
                return 0;
        run->start = sd_bus_slot_unref(run->start);
        if (refused)
                end_run(run, sd_bus_message_get_error(m));
        else if (!path)
                end_unreadable(run);
        else
                follow_job(run, m, path);
        return 0;
}

/* Any client may send such a signal, so only those of the service that runs the job count. */
static bool is_of_our_job(const AldJobRun *run, sd_bus_message *m)
{
        return run->is_read && g_strcmp0(sd_bus_message_get_sender(m), run->service) == 0 &&
               g_strcmp0(sd_bus_message_get_path(m), run->path) == 0;
}

/* Sets the properties that have changed, and removes those that are absent now. */
static int update_job(AldJobRun *run, sd_bus_message *m)
{
        json_auto_t *json = json_copy(run->json), *absent = json_array();
        json_t *name;
        size_t i;
        int r = ald_value_read_dict(m, json, absent);

        if (r < 0)
                return r;
        json_array_foreach(absent, i, name)
                json_object_del(json, json_string_value(name));
        set_job(run, g_steal_pointer(&json));
        return 0;
}

static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldJobRun *run = userdata;
        const char *interface;

        if (!is_of_our_job(run, m) || sd_bus_message_has_signature(m, "sa{sv}as") <= 0 ||
                sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface) < 0 ||
                strcmp(interface, JOB_INTERFACE) != 0 || update_job(run, m) < 0)
                return 0;
        restart_silence_timer(run);
        /* The properties of the end may come in several signals. */
        if (ald_job_has_ended(&run->job))
                read_job(run);
        else
                run->handler->changed(run, run->userdata);
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldJobRun *run = userdata;
        const char *name, *old, *new;
        g_autofree char *words = NULL;

        if (!run->service || sd_bus_message_read(m, "sss", &name, &old, &new) < 0 ||
                strcmp(old, run->service) != 0)
                return 0;
        words = g_strdup_printf(_("%s disappeared, and the probe was lost"), ALD_LINK_PROBE_UNIT);
        end_with_error(run, SD_BUS_ERROR_DISCONNECTED, words);
        return 0;
}

static int add_matches(AldJobRun *run)
{
        int r = sd_bus_add_match_async(run->bus, &run->matches[CHANGES],
                "type='signal',sender='" ALD_LINK_PROBE_NAME "',path_namespace='" ALD_LINK_PROBE_PATH
                "/job',interface='" PROPERTIES_INTERFACE "',member='PropertiesChanged'",
                on_changed, NULL, run);

        if (r >= 0)
                r = sd_bus_add_match_async(run->bus, &run->matches[OWNER],
                        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                        "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                        "arg0='" ALD_LINK_PROBE_NAME "'",
                        on_owner_changed, NULL, run);
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

static int append_options(sd_bus_message *m, const AldJobCall *call)
{
        int r = sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "{sv}");

        if (r >= 0 && call->metrics)
                r = append_metrics(m, call->metrics);
        if (r >= 0 && call->force)
                r = sd_bus_message_append(m, "{sv}", "Force", "b", true);
        if (r >= 0 && call->address)
                r = sd_bus_message_append(m, "{sv}", "Address", "s", call->address);
        if (r >= 0 && call->words->flag)
                r = sd_bus_message_append(m, "{sv}", call->words->flag, "b", true);
        if (r >= 0 && call->port)
                r = sd_bus_message_append(m, "{sv}", "Port", "s", call->port);
        if (r >= 0 && call->peer_port)
                r = sd_bus_message_append(m, "{sv}", "PeerPort", "s", call->peer_port);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int call_start(AldJobRun *run, const AldJobCall *call)
{
        g_autoptr(AldMessage) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(run->bus, &m, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH,
                ALD_LINK_PROBE_INTERFACE, call->words->method);
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(m, call->asks);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", call->id);
        if (r >= 0)
                r = append_options(m, call);
        if (r >= 0)
                r = sd_bus_call_async(
                        run->bus, &run->start, m, on_started, run, call->asks ? ALD_ASKING_USEC : 0);
        return r;
}

int ald_job_run_start(
        sd_bus *bus, const AldJobCall *call, const AldJobRunHandler *handler, void *userdata, AldJobRun **ret)
{
        g_autoptr(AldJobRun) run = g_new0(AldJobRun, 1);
        int r;

        run->bus = sd_bus_ref(bus);
        run->handler = handler;
        run->userdata = userdata;
        run->json = json_object();
        run->job = (AldProbeJob) ALD_PROBE_JOB_INIT;
        r = add_matches(run);
        if (r >= 0)
                r = call_start(run, call);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&run);
        return 0;
}

void ald_job_run_free(AldJobRun *run)
{
        if (!run)
                return;
        disconnect(run);
        json_decref(run->json);
        g_free(run->service);
        g_free(run->path);
        sd_bus_unref(run->bus);
        g_free(run);
}

static gboolean on_cancel_timeout(void *userdata)
{
        end_with_error(userdata, ALD_JOB_NOT_STOPPED, _("it did not stop when canceled"));
        return G_SOURCE_REMOVE;
}

void ald_job_run_cancel(AldJobRun *run)
{
        if (run->canceled)
                return;
        run->canceled = true;
        run->cancel_timeout = timer_new(CANCEL_USEC, on_cancel_timeout, run);
        if (run->path)
                call_cancel(run);
}

bool ald_job_run_has_started(const AldJobRun *run)
{
        return run->path;
}

const AldProbeJob *ald_job_run_job(const AldJobRun *run)
{
        return &run->job;
}

json_t *ald_job_run_json(const AldJobRun *run)
{
        return run->json;
}
