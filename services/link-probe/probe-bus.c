/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "record/id.h"
#include "services/common/arguments.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/link-probe/job/job-paths.h"
#include "services/link-probe/job/jobs-bus.h"
#include "services/link-probe/probe-bus.h"

/* A pending call of a method that requests probes. */
typedef struct PendingProbeCall {
        AldLinkProbeManager *manager;
        const AldProbeKind *kind;
        sd_bus_message *message;
} PendingProbeCall;

static int read_peer(const char *node, AldProbeTarget *target, sd_bus_error *error)
{
        AldId id;

        if (ald_id_parse(node, &id) < 0) {
                g_autofree char *excerpt = ald_excerpt(node);
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Not a node id: %s", excerpt);
        }
        g_strlcpy(target->peer, node, sizeof target->peer);
        return 0;
}

/* Reads the arguments. The device points into the message. */
static int read_target(sd_bus_message *message, AldProbeTarget *target, sd_bus_error *error)
{
        const AldProbeKind *kind = target->kind;
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autofree void *options = g_malloc0(kind->options->size);
        g_autofree char *problem = NULL;
        char *subject;
        int r;

        r = sd_bus_message_read(message, "s", &subject);
        if (r < 0)
                return r;
        if (!kind->local)
                r = read_peer(subject, target, error);
        else if (*subject)
                target->device = subject;
        if (r >= 0)
                r = ald_arguments_read(message, kind->options, owned, options, error);
        if (r < 0)
                return r;
        problem = kind->take_options(options, target);
        return problem ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, problem) : 0;
}

static int set_refusal_of_kind(const AldProbeKind *kind, int r, sd_bus_error *error)
{
        const AldProbeRefusal *refusal = kind->refusals;

        while (refusal->name && refusal->error != r)
                refusal++;
        return refusal->name ? sd_bus_error_set(error, refusal->name, refusal->sentence)
                             : sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s: %s", refusal->sentence,
                                       ald_error_describe(r));
}

static int set_refusal(AldLinkProbeManager *manager, const AldProbeKind *kind, int r, sd_bus_error *error)
{
        const AldInhibitors *inhibitors = ald_link_probe_manager_inhibitors(manager);
        const char *unit = ald_link_probe_manager_unit(manager);
        const char *processors = ald_link_probe_manager_processors(manager);

        if (r == -ALD_E_BUSY && unit)
                return sd_bus_error_setf(error, ALD_ERROR_BUSY,
                        "%s is active and listed in work-units=; use the option Force to measure anyway",
                        unit);
        switch (r) {
        case -ALD_E_PROCESSORS_BUSY:
                return sd_bus_error_setf(error, ALD_ERROR_BUSY, "%s; use the option Force to measure anyway",
                        processors ?: "The processors are in use");
        case -ALD_E_INHIBITED:
                return ald_jobs_bus_refuse_inhibited(
                        ald_inhibitors_find(inhibitors, kind->inhibit), kind->subject, error);
        case -ALD_E_NOT_JOINED:
                return sd_bus_error_setf(error, ALD_ERROR_NOT_JOINED,
                        "This machine does not measure %s; see its configuration or Problem", kind->noun);
        case -ALD_E_USER_LIMIT:
        case -ALD_E_COMMON_LIMIT:
                return ald_jobs_bus_refuse_room(r, error);
        case -EUSERS:
                return ald_jobs_bus_refuse_pending(error);
        default:
                return set_refusal_of_kind(kind, r, error);
        }
}

static void on_answer(int r, AldJob *job, void *userdata)
{
        g_autofree PendingProbeCall *call = userdata;
        g_autoptr(AldMessage) message = call->message;
        sd_bus_error error = SD_BUS_ERROR_NULL;

        if (!job)
                set_refusal(call->manager, call->kind, r, &error);
        ald_jobs_bus_answer(message, job, &error);
}

int ald_probe_bus_handle(AldService *service, sd_bus_message *message, AldLinkProbeManager *manager,
        const AldProbeKind *kind, sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error)
{
        AldMeasureRequest request = { .target.kind = kind };
        PendingProbeCall *call;
        int r;

        r = read_target(message, &request.target, error);
        if (r < 0)
                return r;
        r = ald_polkit_authorize(service, message, ALD_LINK_PROBE_ACTION, handler, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_jobs_bus_uid_of_sender(message, &request.uid);
        if (r < 0)
                return r;
        call = g_new(PendingProbeCall, 1);
        *call = (PendingProbeCall){ manager, kind, sd_bus_message_ref(message) };
        r = ald_measure_requests_add(ald_link_probe_manager_requests(manager), &request, on_answer, call);
        if (r >= 0)
                return 1;
        sd_bus_message_unref(call->message);
        g_free(call);
        return set_refusal(manager, kind, r, error);
}
