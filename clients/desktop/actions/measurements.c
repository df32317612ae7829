/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>
#include <stdbool.h>

#include "clients/common/node-summary.h"
#include "clients/common/probes/job-words.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/actions/job-bar.h"
#include "clients/desktop/actions/job-outcome.h"
#include "clients/desktop/actions/measurements.h"
#include "clients/desktop/live/bus-error-words.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"

struct AldMeasurements {
        AldHostBus *bus;
        AldLiveCluster *cluster;
        AldShowMessage say;
        void *userdata;
        GtkWidget *bar;
        GPtrArray *running; /* Measurement */
};

typedef struct Measurement {
        AldMeasurements *owner;
        const AldProbeWords *words;
        char *id, *subject;
        AldHostUse *use;
        AldJobRun *run;
        AldJobRow *row;
        guint end_idle_id; /* ends one that was canceled before it started */
        bool canceled;
} Measurement;

static void measurement_free(void *data)
{
        Measurement *measurement = data;

        g_clear_handle_id(&measurement->end_idle_id, g_source_remove);
        ald_job_run_free(measurement->run);
        ald_host_use_end(measurement->use);
        ald_job_row_free(measurement->row);
        g_free(measurement->id);
        g_free(measurement->subject);
        g_free(measurement);
}

/* Returns the step in words. If all devices are measured, it begins with the device that was reached; the
 * subject of a link already names both ends. */
static char *describe_step(const Measurement *measurement, const AldProbeJob *job)
{
        g_autofree char *step = ald_job_step(job);
        bool names_device = measurement->words->all && *measurement->id == '\0' && job->device &&
                            *job->device;
        g_autofree char *device = names_device ? ald_text_safe(job->device) : NULL;

        if (measurement->canceled)
                return g_strdup(_("canceling"));
        return device ? g_strdup_printf("%s: %s", device, step) : g_steal_pointer(&step);
}

static void show_progress(Measurement *measurement)
{
        const AldProbeJob *job = ald_job_run_job(measurement->run);
        g_autofree char *step = describe_step(measurement, job);

        ald_job_row_show(measurement->row, step, job->progress);
}

static void on_changed(AldJobRun *run, void *userdata)
{
        show_progress(userdata);
}

static char *describe_end(const Measurement *measurement, const sd_bus_error *error)
{
        g_autofree char *why = NULL;

        if (!error)
                return ald_job_outcome(measurement->words, measurement->subject,
                        ald_job_run_job(measurement->run), ald_job_run_json(measurement->run));
        why = ald_bus_error_words(error, ALD_LINK_PROBE_UNIT);
        return g_strdup_printf(_("Cannot measure %s: %s"), measurement->subject, why);
}

static void end_measurement(Measurement *measurement, const sd_bus_error *error)
{
        AldMeasurements *owner = measurement->owner;
        g_autofree char *words = describe_end(measurement, error);

        (void) g_ptr_array_remove(owner->running, measurement);
        owner->say(words, owner->userdata);
}

static void on_ended(AldJobRun *run, const sd_bus_error *error, void *userdata)
{
        end_measurement(userdata, error);
}

static void on_lost(const sd_bus_error *error, void *userdata)
{
        end_measurement(userdata, error);
}

static gboolean on_end_idle(void *userdata)
{
        Measurement *measurement = userdata;

        measurement->end_idle_id = 0;
        end_measurement(measurement, NULL);
        return G_SOURCE_REMOVE;
}

static void on_canceled(void *userdata)
{
        Measurement *measurement = userdata;

        measurement->canceled = true;
        show_progress(measurement);
        ald_job_run_cancel(measurement->run);
        /* The end waits for the main loop, since it removes the row with the button that emits this signal.
         */
        if (!ald_job_run_has_started(measurement->run))
                measurement->end_idle_id = g_idle_add(on_end_idle, measurement);
}

static char *describe_device(AldModel *model, const char *id)
{
        const AldEntity *node = ald_model_get(model, ald_model_node_id(model));
        g_autoptr(GArray) devices = node ? ald_node_devices(node) : NULL;

        for (guint i = 0; devices && i < devices->len; i++) {
                const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);

                if (device->backend && g_strcmp0(device->backend->id, id) == 0)
                        return ald_node_device_name(device);
        }
        return ald_text_safe(id);
}

/* Returns the subject of the measurement as safe text. */
static char *describe_subject(AldModel *model, const AldProbeWords *words, const char *id)
{
        g_autofree char *from = NULL, *to = NULL, *link = NULL;

        if (words->all)
                return *id ? describe_device(model, id) : g_strdup(_(words->title));
        from = ald_node_name(model, ald_model_node_id(model));
        to = ald_node_name(model, id);
        link = g_strdup_printf(_("%s → %s"), from ?: _("this machine"), to);
        return g_strdup_printf(_(words->title), link);
}

static bool is_running(AldMeasurements *self, const AldProbeWords *words, const char *id)
{
        for (guint i = 0; i < self->running->len; i++) {
                const Measurement *measurement = self->running->pdata[i];

                if (measurement->words == words && g_str_equal(measurement->id, id) && !measurement->canceled)
                        return true;
        }
        return false;
}

static const char *find_refusal(AldMeasurements *self, const AldProbeWords *words, const char *id)
{
        AldModel *model = ald_live_cluster_model(self->cluster);

        if (!words->all && g_strcmp0(id, ald_model_node_id(model)) == 0)
                return _("There is no link from the machine to itself");
        return is_running(self, words, id) ? _("This is being measured already") : NULL;
}

static int start_measurement(Measurement *measurement, sd_bus_error *error)
{
        static const AldJobRunHandler handler = { .changed = on_changed, .ended = on_ended };
        const AldJobCall call = { .words = measurement->words, .id = measurement->id, .asks = true };
        int r;

        measurement->use = ald_host_bus_use(measurement->owner->bus, on_lost, measurement, error);
        if (!measurement->use)
                return -ENOTCONN;
        r = ald_job_run_start(
                ald_host_use_bus(measurement->use), &call, &handler, measurement, &measurement->run);
        return r < 0 ? sd_bus_error_set_errno(error, r) : 0;
}

void ald_measurements_start(AldMeasurements *self, const AldProbeWords *words, const char *id)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        AldModel *model = ald_live_cluster_model(self->cluster);
        const char *refusal = find_refusal(self, words, id);
        Measurement *measurement;

        if (refusal) {
                self->say(refusal, self->userdata);
                return;
        }
        measurement = g_new0(Measurement, 1);
        measurement->owner = self;
        measurement->words = words;
        measurement->id = g_strdup(id);
        measurement->subject = describe_subject(model, words, id);
        measurement->row = ald_job_row_new(self->bar, measurement->subject, on_canceled, measurement);
        g_ptr_array_add(self->running, measurement);
        if (start_measurement(measurement, &error) < 0)
                end_measurement(measurement, &error);
}

AldMeasurements *ald_measurements_new(
        AldHostBus *bus, AldLiveCluster *cluster, AldShowMessage say, void *userdata)
{
        AldMeasurements *self = g_new0(AldMeasurements, 1);

        self->bus = bus;
        self->cluster = cluster;
        self->say = say;
        self->userdata = userdata;
        self->bar = g_object_ref_sink(ald_job_bar_new());
        self->running = g_ptr_array_new_with_free_func(measurement_free);
        return self;
}

void ald_measurements_free(AldMeasurements *self)
{
        if (!self)
                return;
        g_ptr_array_unref(self->running);
        g_object_unref(self->bar);
        g_free(self);
}

GtkWidget *ald_measurements_bar(AldMeasurements *self)
{
        return self->bar;
}
