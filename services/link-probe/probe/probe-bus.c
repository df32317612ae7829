/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>

#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "record/id.h"
#include "services/common/arguments.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/link-probe/job/jobs-bus.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/paths.h"
#include "services/link-probe/probe/probe-bus.h"

struct AldProbeLinkBus {
        AldService *service;
        AldLinkProbeManager *manager;
};

/* A pending call. */
typedef struct Call {
        AldLinkProbeManager *manager;
        AldTransport transport;
        sd_bus_message *message;
} Call;

/* "ADDRESS" or "LINK-LOCAL%INTERFACE", in any form; stored in the form of records. */
static int read_address(const char *text, const char *node, AldProbeTarget *target)
{
        g_auto(GStrv) parts = g_strsplit(text, "%", 2);
        char plain[INET6_ADDRSTRLEN];
        struct in6_addr bytes;
        bool scoped = parts[0] && parts[1];

        if (!parts[0])
                return -EINVAL;
        if (inet_pton(AF_INET6, parts[0], &bytes) == 1)
                inet_ntop(AF_INET6, &bytes, plain, sizeof plain);
        else if (inet_pton(AF_INET, parts[0], &bytes) == 1)
                inet_ntop(AF_INET, &bytes, plain, sizeof plain);
        else
                return -EINVAL;
        if (ald_route_is_link_local(plain) != scoped || (scoped && *parts[1] == '\0'))
                return -EINVAL;
        return ald_probe_target_set(target, node, plain, scoped ? parts[1] : NULL);
}

static int read_link_options(sd_bus_message *message, AldProbeTarget *target, sd_bus_error *error)
{
        g_autofree char *excerpt = NULL, *peer = g_strdup(target->peer);
        AldProbeLinkOptions options;
        int r = ald_arguments_read(message, &ald_probe_link_options_struct, NULL, &options, error);

        if (r < 0)
                return r;
        if (options.address && read_address(options.address, peer, target) < 0) {
                excerpt = ald_excerpt(options.address);
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                        "Not an address, or a link-local address without %%INTERFACE: %s", excerpt);
        }
        target->rtt_only = options.rtt_only;
        return 0;
}

static int set_port(char ret[static ALD_PORT_NAME_SIZE], const char *port, sd_bus_error *error)
{
        g_autofree char *excerpt = NULL;

        if (!port || ald_port_name_ok(port)) {
                g_strlcpy(ret, port ?: "", ALD_PORT_NAME_SIZE);
                return 0;
        }
        excerpt = ald_excerpt(port);
        return sd_bus_error_setf(
                error, SD_BUS_ERROR_INVALID_ARGS, "Not a port such as mlx5_0.1: %s", excerpt);
}

static int read_rdma_options(sd_bus_message *message, AldProbeTarget *target, sd_bus_error *error)
{
        AldProbeRdmaOptions options;
        int r = ald_arguments_read(message, &ald_probe_rdma_options_struct, NULL, &options, error);

        if (r >= 0)
                r = set_port(target->source_port, options.port, error);
        return r < 0 ? r : set_port(target->sink_port, options.peer_port, error);
}

static int read_request(sd_bus_message *message, AldLinkRequest *request, sd_bus_error *error)
{
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
        return request->target.transport == ALD_TRANSPORT_RDMA
                       ? read_rdma_options(message, &request->target, error)
                       : read_link_options(message, &request->target, error);
}

static int refuse_inhibited(AldLinkProbeManager *manager, const AldTransportInfo *info, sd_bus_error *error)
{
        const AldInhibitors *inhibitors = ald_link_probe_manager_inhibitors(manager);
        g_autofree char *what = g_strdup_printf("Probes of %s are", info->noun);

        return ald_jobs_bus_refuse_inhibited(ald_inhibitors_find(inhibitors, info->inhibit), what, error);
}

static int refuse(AldLinkProbeManager *manager, AldTransport transport, int r, sd_bus_error *error)
{
        const AldTransportInfo *info = &ald_transports[transport];

        switch (r) {
        case -ALD_E_INHIBITED:
                return refuse_inhibited(manager, info, error);
        case -ALD_E_NO_SUCH_DEVICE:
                return sd_bus_error_set(error, ALD_ERROR_NO_SUCH_DEVICE,
                        "This machine or the node has no such RDMA port, or no pair of them can be "
                        "used; alidadectl fabric shows all ports");
        case -ALD_E_NO_SUCH_NODE:
                return sd_bus_error_set(error, ALD_ERROR_NO_SUCH_NODE, "The node is not known");
        case -ALD_E_NO_SUCH_ADDRESS:
                return sd_bus_error_set(error, ALD_ERROR_NO_SUCH_NODE,
                        "The node does not have this address, or cannot be reached at any address");
        case -ALD_E_NOT_JOINED:
                return sd_bus_error_setf(error, ALD_ERROR_NOT_JOINED,
                        "This machine does not measure %s; see its configuration or Problem", info->noun);
        case -ALD_E_OWN_NODE:
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "The node is this machine");
        case -ALD_E_USER_LIMIT:
        case -ALD_E_COMMON_LIMIT:
                return ald_jobs_bus_refuse_room(r, error);
        case -EUSERS:
                return ald_jobs_bus_refuse_pending(error);
        default:
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED,
                        "Cannot read the addresses of the node from the state service: %s",
                        ald_error_describe(r));
        }
}

static void on_answer(int r, AldJob *job, void *userdata)
{
        g_autofree Call *call = userdata;
        g_autoptr(AldMessage) message = call->message;
        sd_bus_error error = SD_BUS_ERROR_NULL;

        if (!job)
                refuse(call->manager, call->transport, r, &error);
        ald_jobs_bus_answer(message, job, &error);
}

/* `again` is what is called once polkit has answered. */
static int handle(sd_bus_message *message, AldProbeLinkBus *self, AldTransport transport,
        sd_bus_message_handler_t again, sd_bus_error *error)
{
        AldLinkRequest request = { .target.transport = transport };
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
        *call = (Call){ self->manager, transport, sd_bus_message_ref(message) };
        r = ald_link_probe_manager_probe(self->manager, &request, on_answer, call);
        if (r >= 0)
                return 1;
        sd_bus_message_unref(call->message);
        g_free(call);
        return refuse(self->manager, transport, r, error);
}

int ald_probe_link_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return handle(message, userdata, ALD_TRANSPORT_SOCKET, ald_probe_link_bus_handle, error);
}

int ald_probe_link_bus_handle_rdma(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return handle(message, userdata, ALD_TRANSPORT_RDMA, ald_probe_link_bus_handle_rdma, error);
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
