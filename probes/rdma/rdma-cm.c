/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/wait.h"
#include "probes/rdma/endpoint.h"
#include "probes/rdma/ping.h"
#include "probes/rdma/rdma-cm.h"

#define TIMEOUT_MSEC 5000
#define TIMEOUT_NS (TIMEOUT_MSEC * ALD_NSEC_PER_MSEC)

int ald_rdma_cm_open(AldRdmaCm *manager, int stop, AldFailure *failure)
{
        *manager = (AldRdmaCm){ .stop = stop, .failure = failure };
        manager->events = rdma_create_event_channel();
        if (!manager->events)
                return ald_fail(failure,
                        errno == EACCES || errno == EPERM ? ALD_FAILURE_NO_PERMISSION
                                                          : ALD_FAILURE_NO_PROVIDER,
                        "rdma_cm cannot be used (/dev/infiniband/rdma_cm): %s", g_strerror(errno));
        (void) fcntl(manager->events->fd, F_SETFL, O_NONBLOCK);
        return 0;
}

void ald_rdma_cm_close(AldRdmaCm *manager)
{
        if (manager->id)
                rdma_destroy_id(manager->id);
        if (manager->listener)
                rdma_destroy_id(manager->listener);
        if (manager->events)
                rdma_destroy_event_channel(manager->events);
        *manager = (AldRdmaCm){};
}

static int fail_event(AldRdmaCm *manager, const struct rdma_cm_event *event)
{
        switch (event->event) {
        case RDMA_CM_EVENT_ADDR_ERROR:
        case RDMA_CM_EVENT_ROUTE_ERROR:
        case RDMA_CM_EVENT_UNREACHABLE:
                return ald_fail(manager->failure, ALD_FAILURE_UNREACHABLE, "rdma_cm finds no way: %s",
                        rdma_event_str(event->event));
        case RDMA_CM_EVENT_REJECTED:
                return ald_fail(
                        manager->failure, ALD_FAILURE_REFUSED, "rdma_cm of the other side refuses it");
        case RDMA_CM_EVENT_DEVICE_REMOVAL:
                return ald_fail(manager->failure, ALD_FAILURE_DEVICE_LOST, "the device was removed");
        default:
                return ald_fail(manager->failure, ALD_FAILURE_PROTOCOL, "unexpected event of rdma_cm: %s",
                        rdma_event_str(event->event));
        }
}

/* Waits for the event that must come next, which the caller must acknowledge. */
static int wait_for_event(
        AldRdmaCm *manager, enum rdma_cm_event_type type, uint64_t deadline, struct rdma_cm_event **ret)
{
        struct rdma_cm_event *event;
        int r = ald_wait_for(
                manager->events->fd, POLLIN, manager->stop, deadline, "waited for rdma_cm", manager->failure);

        if (r < 0)
                return r;
        if (rdma_get_cm_event(manager->events, &event) < 0)
                return ald_fail(manager->failure, ALD_FAILURE_INTERNAL, "rdma_cm: %s", g_strerror(errno));
        if (event->event == type) {
                *ret = event;
                return 0;
        }
        r = fail_event(manager, event);
        rdma_ack_cm_event(event);
        return r;
}

static int await_event(AldRdmaCm *manager, enum rdma_cm_event_type type)
{
        struct rdma_cm_event *event;
        int r = wait_for_event(manager, type, ald_now() + TIMEOUT_NS, &event);

        if (r >= 0)
                rdma_ack_cm_event(event);
        return r;
}

static bool is_on_port(const struct rdma_cm_id *id, const AldVerbsPort *port)
{
        return id->verbs && id->port_num == port->number &&
               strcmp(ibv_get_device_name(id->verbs->device), ibv_get_device_name(port->context->device)) ==
                       0;
}

static unsigned scope_of(const AldVerbsPort *port, const AldAddress *control)
{
        const struct sockaddr_in6 *address = (const void *) &control->storage;

        for (size_t i = 0; i < port->gids.n; i++)
                if (port->gids.gids[i].interface > 0)
                        return port->gids.gids[i].interface;
        return address->sin6_family == AF_INET6 ? address->sin6_scope_id : 0;
}

static void address_of(const struct in6_addr *bytes, unsigned scope, AldAddress *ret)
{
        struct sockaddr_in6 *six = (void *) &ret->storage;
        struct sockaddr_in *four = (void *) &ret->storage;

        *ret = (AldAddress){};
        if (IN6_IS_ADDR_V4MAPPED(bytes)) {
                four->sin_family = AF_INET;
                memcpy(&four->sin_addr, &bytes->s6_addr[12], 4);
                ret->size = sizeof *four;
                return;
        }
        six->sin6_family = AF_INET6;
        six->sin6_addr = *bytes;
        six->sin6_scope_id = IN6_IS_ADDR_LINKLOCAL(bytes) ? scope : 0;
        ret->size = sizeof *six;
}

static bool bind_listener(AldRdmaCm *manager, const AldVerbsPort *port, AldAddress *address)
{
        struct rdma_cm_id *id;

        ald_address_set_port(address, 0);
        if (rdma_create_id(manager->events, &id, NULL, RDMA_PS_TCP) < 0)
                return false;
        if (rdma_bind_addr(id, (struct sockaddr *) &address->storage) == 0 && is_on_port(id, port)) {
                manager->listener = id;
                return true;
        }
        rdma_destroy_id(id);
        return false;
}

int ald_rdma_cm_listen(
        AldRdmaCm *manager, const AldVerbsPort *port, const AldAddress *control, AldRdmaOffer *offer)
{
        AldAddress address = *control;
        bool bound = bind_listener(manager, port, &address);

        for (size_t i = 0; i < port->gids.n && !bound; i++) {
                address_of(&port->gids.gids[i].bytes, scope_of(port, control), &address);
                bound = bind_listener(manager, port, &address);
        }
        if (!bound)
                return ald_fail(manager->failure, ALD_FAILURE_NO_GID,
                        "rdma_cm has no address of %s to listen on", port->name);
        if (rdma_listen(manager->listener, 1) < 0)
                return ald_fail(manager->failure, ALD_FAILURE_INTERNAL, "rdma_cm cannot listen: %s",
                        g_strerror(errno));
        ald_address_format(&address, manager->address);
        offer->service_address = manager->address;
        offer->service_port = ntohs(rdma_get_src_port(manager->listener));
        offer->service_nonce = manager->nonce = ald_ping_nonce();
        return 0;
}

int ald_rdma_cm_wait_for_client(AldRdmaCm *manager)
{
        uint64_t deadline = ald_now() + TIMEOUT_NS, shown = GUINT64_TO_BE(manager->nonce);
        struct rdma_cm_event *event;

        while (!manager->id) {
                int r = wait_for_event(manager, RDMA_CM_EVENT_CONNECT_REQUEST, deadline, &event);
                struct rdma_cm_id *id;
                bool knows;

                if (r < 0)
                        return r;
                id = event->id;
                knows = event->param.conn.private_data_len >= sizeof shown &&
                        memcmp(event->param.conn.private_data, &shown, sizeof shown) == 0;
                rdma_ack_cm_event(event);
                if (knows)
                        manager->id = id;
                else
                        rdma_destroy_id(id);
        }
        return 0;
}

static void add_destination(AldGids *gids, const void *bytes)
{
        if (gids->n < ALD_GIDS_MAX)
                memcpy(&gids->gids[gids->n++].bytes, bytes, sizeof gids->gids[0].bytes);
}

/* Data follows the paths of the request, no matter from which address that came. */
void ald_rdma_cm_find_destinations(const AldRdmaCm *manager, const AldVerbsPort *port, AldGids *ret)
{
        const struct rdma_route *route = &manager->id->route;
        AldAddress address = { .storage = route->addr.dst_storage };
        struct in6_addr bytes;

        *ret = (AldGids){};
        if (ald_verbs_port_needs_manager(port)) {
                if (ald_address_as_ipv6(&address, &bytes))
                        add_destination(ret, &bytes);
                return;
        }
        for (int i = 0; i < route->num_paths; i++)
                add_destination(ret, &route->path_rec[i].dgid);
        if (ret->n == 0)
                add_destination(ret, &route->addr.addr.ibaddr.dgid);
}

static struct rdma_conn_param connection_parameters(const uint64_t *nonce)
{
        return (struct rdma_conn_param){ .private_data = nonce,
                .private_data_len = nonce ? sizeof *nonce : 0,
                .responder_resources = 1,
                .initiator_depth = 1,
                .retry_count = ALD_ENDPOINT_RETRIES,
                .rnr_retry_count = 7 };
}

int ald_rdma_cm_accept(AldRdmaCm *manager)
{
        struct rdma_conn_param how = connection_parameters(NULL);

        if (rdma_accept(manager->id, &how) < 0)
                return ald_fail(manager->failure, ALD_FAILURE_INTERNAL, "rdma_cm cannot accept: %s",
                        g_strerror(errno));
        return await_event(manager, RDMA_CM_EVENT_ESTABLISHED);
}

int ald_rdma_cm_resolve(
        AldRdmaCm *manager, const AldVerbsPort *port, const AldAddress *control, const AldRdmaOffer *offer)
{
        struct in6_addr bytes = {};
        AldAddress to;
        int r;

        if (!offer->service_address || offer->service_port == ALD_ABSENT_UINT64 ||
                offer->service_nonce == ALD_ABSENT_UINT64)
                return ald_fail(manager->failure, ALD_FAILURE_PROTOCOL,
                        "the other side does not say where its rdma_cm listens");
        if (inet_pton(AF_INET, offer->service_address, &bytes.s6_addr[12]) == 1)
                bytes.s6_addr[10] = bytes.s6_addr[11] = 0xff;
        else if (inet_pton(AF_INET6, offer->service_address, &bytes) != 1)
                return ald_fail(manager->failure, ALD_FAILURE_PROTOCOL,
                        "the other side offers something that is not an address");
        address_of(&bytes, scope_of(port, control), &to);
        ald_address_set_port(&to, (unsigned) offer->service_port);
        if (rdma_create_id(manager->events, &manager->id, NULL, RDMA_PS_TCP) < 0 ||
                rdma_resolve_addr(manager->id, NULL, (struct sockaddr *) &to.storage, TIMEOUT_MSEC) < 0)
                return ald_fail(manager->failure, ALD_FAILURE_UNREACHABLE, "rdma_cm finds no way to %s: %s",
                        offer->service_address, g_strerror(errno));
        r = await_event(manager, RDMA_CM_EVENT_ADDR_RESOLVED);
        if (r >= 0 && !is_on_port(manager->id, port))
                r = ald_fail(manager->failure, ALD_FAILURE_UNREACHABLE, "the way to %s is not by %s",
                        offer->service_address, port->name);
        if (r >= 0 && rdma_resolve_route(manager->id, TIMEOUT_MSEC) < 0)
                r = ald_fail(manager->failure, ALD_FAILURE_UNREACHABLE, "rdma_cm finds no route: %s",
                        g_strerror(errno));
        return r < 0 ? r : await_event(manager, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int ald_rdma_cm_connect(AldRdmaCm *manager, uint64_t nonce)
{
        uint64_t shown = GUINT64_TO_BE(nonce);
        struct rdma_conn_param how = connection_parameters(&shown);

        if (rdma_connect(manager->id, &how) < 0)
                return ald_fail(manager->failure, ALD_FAILURE_UNREACHABLE, "rdma_cm cannot connect: %s",
                        g_strerror(errno));
        return await_event(manager, RDMA_CM_EVENT_ESTABLISHED);
}
