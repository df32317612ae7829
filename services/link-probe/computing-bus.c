/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/bus-cleanup.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"
#include "services/link-probe/computing-bus.h"
#include "services/link-probe/jobs-bus.h"
#include "services/link-probe/paths.h"

struct AldComputingBus {
        AldService *service;
        AldComputing *computing;
        AldInhibitors *inhibitors;
        AldRecordExport *export;
};

/* One that waits for its answer. */
typedef struct Call {
        AldComputingBus *self;
        sd_bus_message *message;
} Call;

static void on_results(const AldCompute *fields, void *userdata)
{
        AldComputingBus *self = userdata;

        (void) ald_record_export_update(self->export, fields);
}

int ald_computing_bus_new(
        AldService *service, AldComputing *computing, AldInhibitors *inhibitors, AldComputingBus **ret)
{
        AldComputingBus *self = g_new0(AldComputingBus, 1);

        *ret = self;
        self->service = service;
        self->computing = computing;
        self->inhibitors = inhibitors;
        ald_compute_results_watch(ald_computing_results(computing), on_results, self);
        return ald_record_export_new(service, ALD_LINK_PROBE_PATH, ALD_KIND_COMPUTE, &self->export);
}

void ald_computing_bus_free(AldComputingBus *self)
{
        if (!self)
                return;
        ald_compute_results_watch(ald_computing_results(self->computing), NULL, NULL);
        ald_record_export_free(self->export);
        g_free(self);
}

static int read_metrics(sd_bus_message *message, unsigned *metrics, sd_bus_error *error)
{
        const char *name;
        int r;

        *metrics = 0;
        r = sd_bus_message_enter_container(message, 'v', "as");
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "s");
        while (r >= 0 && (r = sd_bus_message_read(message, "s", &name)) > 0) {
                unsigned metric = ald_compute_metric_parse(name);

                if (metric == 0) {
                        g_autofree char *excerpt = ald_excerpt(name);
                        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                                "No metric gemm, read, copy or peak: %s", excerpt);
                }
                *metrics |= metric;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r >= 0 && *metrics == 0 ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                                                 "No metric is named; without the option it is all of them")
                                       : r;
}

static int read_wish(sd_bus_message *message, const char **device, unsigned *metrics, sd_bus_error *error)
{
        const char *name;
        int r;

        *metrics = ALD_COMPUTE_ALL;
        r = sd_bus_message_read(message, "s", device);
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0 && !g_str_equal(name, "Metrics")) {
                        g_autofree char *excerpt = ald_excerpt(name);
                        return sd_bus_error_setf(
                                error, SD_BUS_ERROR_INVALID_ARGS, "No option Metrics: %s", excerpt);
                }
                if (r >= 0)
                        r = read_metrics(message, metrics, error);
                if (r == -ENXIO)
                        return sd_bus_error_set(
                                error, SD_BUS_ERROR_INVALID_ARGS, "The option Metrics is of another type");
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int refuse(const AldComputingBus *self, int r, sd_bus_error *error)
{
        const AldInhibitorFile *lock = ald_inhibitors_find(self->inhibitors, ALD_INHIBIT_COMPUTE);

        /* The same error without a lock is what the state service answered. */
        if (r == -EBUSY && lock)
                return ald_jobs_bus_refuse_inhibited(lock, "Measuring devices is", error);
        switch (r) {
        case -ENODEV:
                return sd_bus_error_set(
                        error, ALD_ERROR_NO_SUCH_DEVICE, "This machine has no such device that OpenCL shows");
        case -ENODATA:
                return sd_bus_error_set(
                        error, ALD_ERROR_NO_SUCH_DEVICE, "It is not known yet what devices this machine has");
        case -EADDRINUSE:
                return sd_bus_error_set(error, ALD_ERROR_BUSY, "The device is in use by others");
        case -ENOSPC:
        case -EUSERS:
                return ald_jobs_bus_refuse_room(r, error);
        default:
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED,
                        "The state service does not say what devices there are: %s", g_strerror(-r));
        }
}

static void on_answer(int r, AldJob *job, void *userdata)
{
        g_autofree Call *call = userdata;
        g_autoptr(AldMessage) message = call->message;
        sd_bus_error error = SD_BUS_ERROR_NULL;

        if (!job)
                refuse(call->self, r, &error);
        ald_jobs_bus_answer(message, job, &error);
}

int ald_computing_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldComputingBus *self = userdata;
        const char *device;
        unsigned metrics;
        uid_t uid;
        Call *call;
        int r;

        r = read_wish(message, &device, &metrics, error);
        if (r < 0)
                return r;
        r = ald_polkit_authorize(
                self->service, message, ALD_LINK_PROBE_ACTION, ald_computing_bus_handle, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_jobs_bus_uid_of_sender(message, &uid);
        if (r < 0)
                return r;
        call = g_new(Call, 1);
        *call = (Call){ .self = self, .message = sd_bus_message_ref(message) };
        r = ald_compute_wishes_add(ald_computing_wishes(self->computing), uid,
                *device == '\0' ? NULL : device, metrics, on_answer, call);
        if (r >= 0)
                return 1;
        sd_bus_message_unref(call->message);
        g_free(call);
        return refuse(self, r, error);
}
