/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "services/telemetry/network/network-sync.h"

typedef enum Phase {
        PHASE_IDLE,
        PHASE_LINKS,
        PHASE_ADDRESSES,
} Phase;

struct AldNetworkSync {
        AldLinks *links;
        Phase phase;
        uint32_t sequence;
        bool flawed;   /* this round may have missed something */
        bool complete; /* a first round is over */
        bool warned;
};

AldNetworkSync *ald_network_sync_new(AldLinks *links)
{
        AldNetworkSync *sync = g_new0(AldNetworkSync, 1);

        sync->links = links;
        return sync;
}

void ald_network_sync_free(AldNetworkSync *sync)
{
        g_free(sync);
}

void ald_network_sync_begin(AldNetworkSync *sync)
{
        ald_links_mark(sync->links);
        sync->phase = PHASE_LINKS;
        sync->flawed = false;
}

size_t ald_network_sync_request(AldNetworkSync *sync, void *buffer)
{
        struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

        message->nlmsg_type = sync->phase == PHASE_LINKS ? RTM_GETLINK : RTM_GETADDR;
        message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        message->nlmsg_seq = ++sync->sequence;
        if (sync->phase == PHASE_LINKS) {
                mnl_nlmsg_put_extra_header(message, sizeof(struct ifinfomsg));
                mnl_attr_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
        } else {
                mnl_nlmsg_put_extra_header(message, sizeof(struct ifaddrmsg));
        }
        return message->nlmsg_len;
}

static void warn_once(AldNetworkSync *sync, const char *what, int error)
{
        if (!sync->warned)
                g_warning("rtnetlink: %s: %s", what, g_strerror(-error));
        sync->warned = true;
}

/* Requests another round. Only one runs at a time: an event during a round starts another one after it. */
static unsigned request_round(AldNetworkSync *sync)
{
        sync->flawed = true;
        return sync->phase == PHASE_IDLE ? ALD_NETWORK_SYNC_AGAIN : 0;
}

unsigned ald_network_sync_lost(AldNetworkSync *sync)
{
        return request_round(sync);
}

/* Finishes a dump. A flawed round does not remove anything, and its results are used until a better one,
 * which may never come if interfaces are added and removed all the time. */
static unsigned finish_dump(AldNetworkSync *sync)
{
        if (sync->phase == PHASE_LINKS) {
                if (!sync->flawed)
                        sync->flawed = ald_links_sweep_links(sync->links);
                sync->phase = PHASE_ADDRESSES;
                return ALD_NETWORK_SYNC_ASK;
        }
        if (!sync->flawed)
                sync->flawed = ald_links_sweep_addresses(sync->links);
        sync->phase = PHASE_IDLE;
        sync->complete = true;
        return ALD_NETWORK_SYNC_TELL | (sync->flawed ? ALD_NETWORK_SYNC_AGAIN : ALD_NETWORK_SYNC_WELL);
}

/* Returns the error of a message NLMSG_DONE or NLMSG_ERROR, which both start with an errno. A message that is
 * cut off is an error too. */
static int error_of(const struct nlmsghdr *message)
{
        int error;

        if (mnl_nlmsg_get_payload_len(message) < sizeof error)
                return -EBADMSG;
        memcpy(&error, mnl_nlmsg_get_payload(message), sizeof error);
        return error;
}

static unsigned feed_end(AldNetworkSync *sync, const struct nlmsghdr *message)
{
        int error = error_of(message);

        if (sync->phase == PHASE_IDLE || message->nlmsg_seq != sync->sequence)
                return 0;
        if (error < 0) {
                warn_once(sync,
                        sync->phase == PHASE_LINKS ? "cannot list interfaces" : "cannot list addresses",
                        error);
                sync->flawed = true;
        }
        return finish_dump(sync);
}

static unsigned feed_change(AldNetworkSync *sync, const struct nlmsghdr *message)
{
        int r = ald_links_apply(sync->links, message);

        if (r == -EBADMSG)
                warn_once(sync, "cannot read a message", r);
        if (r == -EAGAIN)
                return request_round(sync) | (sync->complete ? ALD_NETWORK_SYNC_TELL : 0);
        return r > 0 && sync->complete ? ALD_NETWORK_SYNC_TELL : 0;
}

static unsigned feed_one(AldNetworkSync *sync, const struct nlmsghdr *message)
{
        if ((message->nlmsg_flags & NLM_F_DUMP_INTR) && message->nlmsg_seq == sync->sequence)
                sync->flawed = true;

        switch (message->nlmsg_type) {
        case NLMSG_NOOP:
                return 0;
        case NLMSG_ERROR:
        case NLMSG_DONE:
                return feed_end(sync, message);
        case NLMSG_OVERRUN:
                return request_round(sync);
        default:
                return feed_change(sync, message);
        }
}

/* Returns whether all of a message is there. mnl_nlmsg_ok() would take a length beyond 2 GiB for a negative
 * one, which fits anywhere. */
static bool is_complete(const struct nlmsghdr *message, size_t left)
{
        return left >= sizeof *message && message->nlmsg_len >= sizeof *message && message->nlmsg_len <= left;
}

unsigned ald_network_sync_feed(AldNetworkSync *sync, const void *datagram, size_t size)
{
        const char *at = datagram;
        unsigned todo = 0;

        while (is_complete((const struct nlmsghdr *) at, size)) {
                const struct nlmsghdr *message = (const struct nlmsghdr *) at;
                size_t step = MIN((size_t) MNL_ALIGN(message->nlmsg_len), size);

                todo |= feed_one(sync, message);
                at += step;
                size -= step;
        }
        return todo;
}
