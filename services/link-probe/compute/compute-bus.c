/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/bus-cleanup.h"
#include "services/common/arguments.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"
#include "services/link-probe/compute/compute-bus.h"
#include "services/link-probe/job/jobs-bus.h"
#include "services/link-probe/paths.h"

struct AldComputeBus {
        AldService *service;
        AldComputeManager *manager;
        AldInhibitors *inhibitors;
        AldRecordExport *export;
};

/* A pending call. */
typedef struct Call {
        AldComputeBus *self;
        sd_bus_message *message;
} Call;

static void on_results(const AldCompute *fields, void *userdata)
{
        AldComputeBus *self = userdata;

        (void) ald_record_export_update(self->export, fields);
}

int ald_compute_bus_new(
        AldService *service, AldComputeManager *manager, AldInhibitors *inhibitors, AldComputeBus **ret)
{
        g_autoptr(AldComputeBus) self = g_new0(AldComputeBus, 1);
        int r;

        self->service = service;
        self->manager = manager;
        self->inhibitors = inhibitors;
        ald_compute_results_watch(ald_compute_manager_results(manager), on_results, self);
        r = ald_record_export_new(service, ALD_LINK_PROBE_PATH, ALD_KIND_COMPUTE, &self->export);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&self);
        return 0;
}

void ald_compute_bus_free(AldComputeBus *self)
{
        if (!self)
                return;
        ald_compute_results_watch(ald_compute_manager_results(self->manager), NULL, NULL);
        ald_record_export_free(self->export);
        g_free(self);
}

static int read_request(sd_bus_message *message, AldComputeRequest *request, sd_bus_error *error)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldProbeComputeOptions options;
        int r;

        *request = (AldComputeRequest){};
        r = sd_bus_message_read(message, "s", &request->device);
        if (r >= 0)
                r = ald_arguments_read(message, &ald_probe_compute_options_struct, owned, &options, error);
        if (r < 0)
                return r;
        if (*request->device == '\0')
                request->device = NULL;
        request->force = options.force;
        for (const char *const *metric = options.metrics; metric && *metric; metric++)
                request->metrics |= ald_compute_metric_parse(*metric);
        if (!options.metrics)
                request->metrics = ALD_COMPUTE_ALL;
        return request->metrics != 0
                       ? 0
                       : sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                                 "The list of metrics is empty; omit the option to measure all");
}

static int refuse_in_use(const AldComputeBus *self, sd_bus_error *error)
{
        const char *unit = ald_compute_manager_unit(self->manager);

        if (unit)
                return sd_bus_error_setf(error, ALD_ERROR_BUSY,
                        "%s is active and listed in work-units=; use the option Force to measure anyway",
                        unit);
        return sd_bus_error_set(error, ALD_ERROR_BUSY,
                "The device is in use, or processes compute on it; use the option Force to measure anyway");
}

static int refuse(const AldComputeBus *self, int r, sd_bus_error *error)
{
        switch (r) {
        case -ALD_E_INHIBITED:
                return ald_jobs_bus_refuse_inhibited(
                        ald_inhibitors_find(self->inhibitors, ALD_INHIBIT_COMPUTE),
                        "Measuring compute devices is", error);
        case -ALD_E_NO_SUCH_DEVICE:
                return sd_bus_error_set(
                        error, ALD_ERROR_NO_SUCH_DEVICE, "OpenCL shows no such device on this machine");
        case -ENODATA:
                return sd_bus_error_set(
                        error, ALD_ERROR_NO_SUCH_DEVICE, "The devices of this machine are not known yet");
        case -ALD_E_BUSY:
                return refuse_in_use(self, error);
        case -ALD_E_USER_LIMIT:
        case -ALD_E_COMMON_LIMIT:
                return ald_jobs_bus_refuse_room(r, error);
        case -EUSERS:
                return ald_jobs_bus_refuse_pending(error);
        default:
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED,
                        "Cannot read the devices from the state service: %s", ald_error_describe(r));
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

int ald_compute_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldComputeBus *self = userdata;
        AldComputeRequest request;
        uid_t uid;
        Call *call;
        int r;

        r = read_request(message, &request, error);
        if (r < 0)
                return r;
        r = ald_polkit_authorize(
                self->service, message, ALD_LINK_PROBE_ACTION, ald_compute_bus_handle, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_jobs_bus_uid_of_sender(message, &uid);
        if (r < 0)
                return r;
        call = g_new(Call, 1);
        *call = (Call){ .self = self, .message = sd_bus_message_ref(message) };
        r = ald_compute_requests_add(
                ald_compute_manager_requests(self->manager), uid, &request, on_answer, call);
        if (r >= 0)
                return 1;
        sd_bus_message_unref(call->message);
        g_free(call);
        return refuse(self, r, error);
}
