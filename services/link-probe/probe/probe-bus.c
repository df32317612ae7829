/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "record/id.h"
#include "services/common/arguments.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/link-probe/job/jobs-bus.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/paths.h"
#include "services/link-probe/probe/probe-bus.h"

struct AldProbeLinkBus {
        AldService *service;
        AldLinkProbeManager *manager;
};

/* A pending call. */
typedef struct Call {
        AldLinkProbeManager *manager;
        const AldProbeKind *kind;
        sd_bus_message *message;
} Call;

static int read_request(sd_bus_message *message, AldLinkRequest *request, sd_bus_error *error)
{
        const AldProbeKind *kind = request->target.kind;
        g_autofree void *options = g_malloc0(kind->options->size);
        g_autofree char *problem = NULL;
        const char *node;
        AldId id;
        int r;

        r = sd_bus_message_read(message, "s", &node);
        if (r < 0)
                return r;
        if (ald_id_parse(node, &id) < 0) {
                g_autofree char *excerpt = ald_excerpt(node);
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Not a node id: %s", excerpt);
        }
        g_strlcpy(request->target.peer, node, sizeof request->target.peer);
        r = ald_arguments_read(message, kind->options, NULL, options, error);
        if (r < 0)
                return r;
        problem = kind->take_options(options, &request->target);
        return problem ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, problem) : 0;
}

static int refuse(AldLinkProbeManager *manager, const AldProbeKind *kind, int r, sd_bus_error *error)
{
        const AldInhibitors *inhibitors = ald_link_probe_manager_inhibitors(manager);
        const AldProbeRefusal *refusal = kind->refusals;

        switch (r) {
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
                while (refusal->name && refusal->error != r)
                        refusal++;
                return refusal->name ? sd_bus_error_set(error, refusal->name, refusal->sentence)
                                     : sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s: %s",
                                               refusal->sentence, ald_error_describe(r));
        }
}

static void on_answer(int r, AldJob *job, void *userdata)
{
        g_autofree Call *call = userdata;
        g_autoptr(AldMessage) message = call->message;
        sd_bus_error error = SD_BUS_ERROR_NULL;

        if (!job)
                refuse(call->manager, call->kind, r, &error);
        ald_jobs_bus_answer(message, job, &error);
}

/* `again` is what is called once polkit has answered. */
static int handle(sd_bus_message *message, AldProbeLinkBus *self, const AldProbeKind *kind,
        sd_bus_message_handler_t again, sd_bus_error *error)
{
        AldLinkRequest request = { .target.kind = kind };
        Call *call;
        int r;

        r = read_request(message, &request, error);
        if (r < 0)
                return r;
        r = ald_polkit_authorize(self->service, message, ALD_LINK_PROBE_ACTION, again, self, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_jobs_bus_uid_of_sender(message, &request.uid);
        if (r < 0)
                return r;
        call = g_new(Call, 1);
        *call = (Call){ self->manager, kind, sd_bus_message_ref(message) };
        r = ald_link_probe_manager_probe(self->manager, &request, on_answer, call);
        if (r >= 0)
                return 1;
        sd_bus_message_unref(call->message);
        g_free(call);
        return refuse(self->manager, kind, r, error);
}

int ald_probe_link_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return handle(message, userdata, &ald_probe_socket, ald_probe_link_bus_handle, error);
}

int ald_probe_link_bus_handle_rdma(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return handle(message, userdata, &ald_probe_rdma, ald_probe_link_bus_handle_rdma, error);
}

AldProbeLinkBus *ald_probe_link_bus_new(AldService *service, AldLinkProbeManager *manager)
{
        AldProbeLinkBus *self = g_new(AldProbeLinkBus, 1);

        *self = (AldProbeLinkBus){ .service = service, .manager = manager };
        return self;
}

void ald_probe_link_bus_free(AldProbeLinkBus *self)
{
        g_free(self);
}
