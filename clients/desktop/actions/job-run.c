/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>
#include <stdbool.h>
#include <string.h>

#include "clients/common/job-words.h"
#include "clients/desktop/actions/host-call.h"
#include "clients/desktop/actions/job-run.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/source.h"
#include "state-client/value.h"

#define JOB_INTERFACE "org.alidade.LinkProbe1.Job"
#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"
#define SILENCE_SECONDS 10u /* after which the service is asked, to find out whether it still answers */
#define CANCEL_SECONDS 5u

enum { CHANGES, OWNER, N_MATCHES };

struct AldJobRun {
        AldHostBus *bus;
        AldHostUse *use; /* NULL once it has ended */
        const AldJobRunHandler *handler;
        void *userdata;
        AldHostCall *start, *reading, *canceling;
        sd_bus_slot *matches[N_MATCHES];
        GSource *failing; /* it could not be started */
        sd_bus_error error;
        char *service, *path; /* NULL before it has started */
        json_t *json;
        AldProbeJob job; /* strings belong to `json` */
        bool canceled;
        guint silence_id, cancel_id;
};

static void disconnect(AldJobRun *run)
{
        g_clear_handle_id(&run->silence_id, g_source_remove);
        g_clear_handle_id(&run->cancel_id, g_source_remove);
        g_clear_pointer(&run->start, ald_host_call_free);
        g_clear_pointer(&run->reading, ald_host_call_free);
        g_clear_pointer(&run->canceling, ald_host_call_free);
        for (unsigned i = 0; i < N_MATCHES; i++)
                run->matches[i] = sd_bus_slot_unref(run->matches[i]);
        ald_source_clear(&run->failing);
        g_clear_pointer(&run->use, ald_host_use_end);
}

static void end(AldJobRun *run, const sd_bus_error *error)
{
        disconnect(run);
        run->handler->ended(run, error, run->userdata);
}

static void end_with(AldJobRun *run, const char *name, const char *words)
{
        const sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(name, words);

        end(run, &error);
}

/* Takes the properties. */
static void set_job(AldJobRun *run, json_t *json)
{
        json_decref(run->json);
        run->json = json;
        ald_value_to_struct(json, &ald_probe_job_struct, &run->job);
}

static gboolean on_silence(void *userdata);

static void note_sign_of_life(AldJobRun *run)
{
        g_clear_handle_id(&run->silence_id, g_source_remove);
        run->silence_id = g_timeout_add_seconds(SILENCE_SECONDS, on_silence, run);
}

/* A service that has restarted under the same name, or that removed the job long ago, has no such object. */
static bool is_gone(const sd_bus_error *error)
{
        return sd_bus_error_has_names(error, SD_BUS_ERROR_UNKNOWN_OBJECT, SD_BUS_ERROR_UNKNOWN_METHOD,
                SD_BUS_ERROR_UNKNOWN_INTERFACE);
}

static void end_unread(AldJobRun *run, const sd_bus_error *error)
{
        if (!is_gone(error))
                end(run, error);
        else if (run->canceled || ald_job_has_ended(&run->job))
                end(run, NULL);
        else
                end_with(run, SD_BUS_ERROR_FAILED, _("the service does not know the measurement any more"));
}

static void on_properties(sd_bus_message *m, const sd_bus_error *error, void *userdata)
{
        AldJobRun *run = userdata;
        json_t *json;
        int r;

        run->reading = NULL;
        if (!m) {
                end_unread(run, error);
                return;
        }
        json = json_object();
        r = sd_bus_message_has_signature(m, "a{sv}") > 0 ? ald_value_read_dict(m, json, NULL) : -EBADMSG;
        set_job(run, json);
        if (r < 0) {
                end_with(run, SD_BUS_ERROR_INCONSISTENT_MESSAGE, NULL);
        } else if (ald_job_has_ended(&run->job)) {
                end(run, NULL);
        } else {
                note_sign_of_life(run);
                run->handler->changed(run, run->userdata);
        }
}

static void read_job(AldJobRun *run)
{
        const AldHostMethod get_all = { run->service, run->path, PROPERTIES_INTERFACE, "GetAll",
                .asks = false };

        ald_host_call_free(run->reading);
        run->reading = ald_host_call_new(run->bus, &get_all, on_properties, run, "s", JOB_INTERFACE);
}

static gboolean on_silence(void *userdata)
{
        AldJobRun *run = userdata;

        run->silence_id = 0;
        if (!run->reading)
                read_job(run);
        return G_SOURCE_REMOVE;
}

static void on_cancel_answered(sd_bus_message *m, const sd_bus_error *error, void *userdata)
{
        AldJobRun *run = userdata;

        run->canceling = NULL;
        /* It may have ended before; then its end is being read, or the job itself is gone. */
        if (m || is_gone(error))
                read_job(run);
        else if (!ald_job_has_ended(&run->job))
                end(run, error);
}

static AldHostCall *call_cancel(
        AldHostBus *bus, const char *service, const char *path, AldHostReplied replied, void *userdata)
{
        const AldHostMethod cancel = { service, path, JOB_INTERFACE, "Cancel", .asks = false };

        return ald_host_call_new(bus, &cancel, replied, userdata, "");
}

static void on_started(sd_bus_message *m, const sd_bus_error *error, void *userdata)
{
        AldJobRun *run = userdata;
        const char *path;

        run->start = NULL;
        if (!m) {
                end(run, error);
                return;
        }
        if (sd_bus_message_read(m, "o", &path) < 0) {
                end_with(run, SD_BUS_ERROR_INCONSISTENT_MESSAGE, NULL);
                return;
        }
        run->path = g_strdup(path);
        run->service = g_strdup(sd_bus_message_get_sender(m));
        note_sign_of_life(run);
        read_job(run);
}

/* Any client may send such a signal, so only those of the service that runs the job count. */
static bool is_of_our_job(const AldJobRun *run, sd_bus_message *m)
{
        return run->json && g_strcmp0(sd_bus_message_get_sender(m), run->service) == 0 &&
               g_strcmp0(sd_bus_message_get_path(m), run->path) == 0;
}

/* Sets the properties that have changed, and removes those that are absent now. */
static void update_job(AldJobRun *run, sd_bus_message *m)
{
        json_t *json = json_copy(run->json), *absent = json_array(), *name;
        size_t i;

        (void) ald_value_read_dict(m, json, absent);
        json_array_foreach(absent, i, name)
                json_object_del(json, json_string_value(name));
        json_decref(absent);
        set_job(run, json);
}

static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldJobRun *run = userdata;
        const char *interface;

        if (!is_of_our_job(run, m) || sd_bus_message_has_signature(m, "sa{sv}as") <= 0 ||
                sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface) < 0 ||
                strcmp(interface, JOB_INTERFACE) != 0)
                return 0;
        update_job(run, m);
        note_sign_of_life(run);
        /* What belongs to the end may come in several signals. */
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
        words = g_strdup_printf(_("%s has ended, and with it the measurement"), ALD_LINK_PROBE_UNIT);
        end_with(run, SD_BUS_ERROR_DISCONNECTED, words);
        return 0;
}

static void on_lost(const sd_bus_error *error, void *userdata)
{
        end(userdata, error);
}

static int add_matches(AldJobRun *run)
{
        sd_bus *bus = ald_host_use_bus(run->use);
        int r;

        r = sd_bus_add_match_async(bus, &run->matches[CHANGES],
                "type='signal',sender='" ALD_LINK_PROBE_NAME "',path_namespace='" ALD_LINK_PROBE_PATH
                "/job',interface='" PROPERTIES_INTERFACE "',member='PropertiesChanged'",
                on_changed, NULL, run);
        if (r >= 0)
                r = sd_bus_add_match_async(bus, &run->matches[OWNER],
                        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                        "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                        "arg0='" ALD_LINK_PROBE_NAME "'",
                        on_owner_changed, NULL, run);
        return r;
}

static void call_start(AldJobRun *run, AldJobTarget target, const char *id)
{
        const AldHostMethod start = { ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH, ALD_LINK_PROBE_INTERFACE,
                target == ALD_JOB_DEVICE ? "ProbeCompute"
                : target == ALD_JOB_RDMA ? "ProbeRdma"
                                         : "ProbeLink",
                .asks = true };

        if (target == ALD_JOB_RTT)
                run->start = ald_host_call_new(
                        run->bus, &start, on_started, run, "sa{sv}", id, 1, "RttOnly", "b", 1);
        else
                run->start = ald_host_call_new(run->bus, &start, on_started, run, "sa{sv}", id, 0);
}

static gboolean on_failing(void *userdata)
{
        AldJobRun *run = userdata;
        g_auto(sd_bus_error) error = run->error;

        run->error = SD_BUS_ERROR_NULL;
        end(run, &error);
        return G_SOURCE_REMOVE;
}

/* The caller expects the end from the main loop only. */
static void fail_soon(AldJobRun *run)
{
        run->failing = g_idle_source_new();
        g_source_set_callback(run->failing, on_failing, run, NULL);
        g_source_attach(run->failing, g_main_context_get_thread_default());
}

AldJobRun *ald_job_run_start(
        AldHostBus *bus, AldJobTarget target, const char *id, const AldJobRunHandler *handler, void *userdata)
{
        AldJobRun *run = g_new0(AldJobRun, 1);
        int r;

        run->bus = bus;
        run->job = (AldProbeJob) ALD_PROBE_JOB_INIT;
        run->handler = handler;
        run->userdata = userdata;
        run->use = ald_host_bus_use(bus, on_lost, run, &run->error);
        if (!run->use) {
                fail_soon(run);
                return run;
        }
        r = add_matches(run);
        if (r < 0) {
                (void) sd_bus_error_set_errno(&run->error, r);
                fail_soon(run);
                return run;
        }
        call_start(run, target, id);
        return run;
}

void ald_job_run_free(AldJobRun *run)
{
        if (!run)
                return;
        disconnect(run);
        sd_bus_error_free(&run->error);
        json_decref(run->json);
        g_free(run->service);
        g_free(run->path);
        g_free(run);
}

static void on_nothing(sd_bus_message *m, const sd_bus_error *error, void *userdata)
{
}

/* A job that was canceled before it started, as while the user was asked for a password. */
static void on_started_late(sd_bus_message *m, const sd_bus_error *error, void *userdata)
{
        AldHostBus *bus = userdata;
        const char *path;

        if (m && sd_bus_message_read(m, "o", &path) >= 0)
                (void) call_cancel(bus, sd_bus_message_get_sender(m), path, on_nothing, NULL);
}

static gboolean on_cancel_timeout(void *userdata)
{
        AldJobRun *run = userdata;

        run->cancel_id = 0;
        end_with(run, SD_BUS_ERROR_FAILED, _("it did not stop when canceled"));
        return G_SOURCE_REMOVE;
}

static gboolean on_canceled_early(void *userdata)
{
        AldJobRun *run = userdata;

        run->cancel_id = 0;
        end(run, NULL);
        return G_SOURCE_REMOVE;
}

void ald_job_run_cancel(AldJobRun *run)
{
        if (run->canceled)
                return;
        run->canceled = true;
        if (run->path) {
                ald_host_call_free(run->canceling);
                run->canceling = call_cancel(run->bus, run->service, run->path, on_cancel_answered, run);
                run->cancel_id = g_timeout_add_seconds(CANCEL_SECONDS, on_cancel_timeout, run);
        } else if (run->start) {
                ald_host_call_hand_over(g_steal_pointer(&run->start), on_started_late, run->bus);
                run->cancel_id = g_idle_add(on_canceled_early, run);
        }
}

const AldProbeJob *ald_job_run_job(AldJobRun *run)
{
        return &run->job;
}

json_t *ald_job_run_json(AldJobRun *run)
{
        return run->json;
}
