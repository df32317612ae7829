/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>

#include "services/common/bus-cleanup.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/link-probe/jobs-bus.h"
#include "services/link-probe/paths.h"
#include "services/link-probe/probe-link-bus.h"
#include "services/link-probe/route.h"
#include "state/id.h"

struct AldProbeLinkBus {
        AldService *service;
        AldLinkProbeManager *manager;
};

/* One that waits for its answer. */
typedef struct Call {
        AldLinkProbeManager *manager;
        sd_bus_message *message;
} Call;

/* "ADDRESS" or "LINK-LOCAL%INTERFACE", in whatever form; kept as records have it. */
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

static int read_option(sd_bus_message *message, const char *node, const char *name, AldWish *wish,
        bool *rtt_only, sd_bus_error *error)
{
        const char *address;
        int flag, r;

        if (g_str_equal(name, "Address")) {
                r = sd_bus_message_read(message, "v", "s", &address);
                if (r >= 0 && read_address(address, node, &wish->target) < 0) {
                        g_autofree char *excerpt = ald_excerpt(address);
                        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                                "Not an address, or a link-local one without %%INTERFACE: %s", excerpt);
                }
        } else if (g_str_equal(name, "RttOnly")) {
                r = sd_bus_message_read(message, "v", "b", &flag);
                if (r >= 0)
                        *rtt_only = flag;
        } else {
                g_autofree char *excerpt = ald_excerpt(name);
                return sd_bus_error_setf(
                        error, SD_BUS_ERROR_INVALID_ARGS, "No option Address or RttOnly: %s", excerpt);
        }
        if (r == -ENXIO)
                return sd_bus_error_setf(
                        error, SD_BUS_ERROR_INVALID_ARGS, "The option %s is of another type", name);
        return r;
}

static int read_wish(sd_bus_message *message, AldWish *wish, sd_bus_error *error)
{
        const char *node, *name;
        bool rtt_only = false;
        AldId id;
        int r;

        r = sd_bus_message_read(message, "s", &node);
        if (r < 0)
                return r;
        if (ald_id_parse(node, &id) < 0) {
                g_autofree char *excerpt = ald_excerpt(node);
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Not a node id: %s", excerpt);
        }
        g_strlcpy(wish->target.peer, node, sizeof wish->target.peer);
        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0)
                        r = read_option(message, node, name, wish, &rtt_only, error);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        wish->target.rtt_only = rtt_only;
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int refuse_inhibited(const AldInhibitorFile *lock, sd_bus_error *error)
{
        g_autofree char *who = ald_excerpt(lock->who), *why = ald_excerpt(lock->why);

        return sd_bus_error_setf(
                error, ALD_ERROR_INHIBITED, "Probes of links are held off by %s: %s", who, why);
}

static int refuse(AldLinkProbeManager *manager, int r, sd_bus_error *error)
{
        const AldInhibitorFile *lock = ald_inhibitors_find(
                ald_link_probe_manager_inhibitors(manager), ALD_INHIBIT_LINK);

        /* The same error without a lock is what the state service answered. */
        if (r == -EBUSY && lock)
                return refuse_inhibited(lock, error);
        switch (r) {
        case -ENOENT:
                return sd_bus_error_set(error, ALD_ERROR_NO_SUCH_NODE, "No such node is known");
        case -ENXIO:
                return sd_bus_error_set(error, ALD_ERROR_NO_SUCH_NODE,
                        "The node has no such address, or none that leads to it");
        case -ENOTCONN:
                return sd_bus_error_set(
                        error, ALD_ERROR_NOT_JOINED, "This machine measures no links; Problem tells why");
        case -EINVAL:
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "That is this machine itself");
        case -ENOSPC:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "This user has %u jobs under way, as many as may be", ALD_JOBS_PER_USER_MAX);
        case -EUSERS:
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_LIMITS_EXCEEDED, "There are as many jobs under way as may be");
        default:
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED,
                        "The state service does not say where the node is: %s", g_strerror(-r));
        }
}

static void on_answer(int r, AldJob *job, void *userdata)
{
        g_autofree Call *call = userdata;
        g_autoptr(AldMessage) message = call->message;
        sd_bus_error error = SD_BUS_ERROR_NULL;

        if (job) {
                g_autofree char *path = ald_jobs_bus_path(job);

                sd_bus_reply_method_return(message, "o", path);
                return;
        }
        refuse(call->manager, r, &error);
        sd_bus_reply_method_error(message, &error);
        sd_bus_error_free(&error);
}

int ald_probe_link_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldProbeLinkBus *self = userdata;
        AldWish wish = { 0 };
        Call *call;
        int r;

        r = read_wish(message, &wish, error);
        if (r < 0)
                return r;
        r = ald_polkit_authorize(
                self->service, message, ALD_LINK_PROBE_ACTION, ald_probe_link_bus_handle, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = ald_jobs_bus_uid_of_sender(message, &wish.uid);
        if (r < 0)
                return r;
        call = g_new(Call, 1);
        *call = (Call){ .manager = self->manager, .message = sd_bus_message_ref(message) };
        r = ald_link_probe_manager_probe(self->manager, &wish, on_answer, call);
        if (r >= 0)
                return 1;
        sd_bus_message_unref(call->message);
        g_free(call);
        return refuse(self->manager, r, error);
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
