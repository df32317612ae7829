/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <glib.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "probes/common/interface.h"
#include "probes/common/probe-fd.h"

#define TIMEOUT_SECONDS 1
#define ANSWER_SIZE 16384u
#define NO_QUEUE "noqueue"

/* A netlink request: the header, the struct of its type, and room for its attributes. */
typedef struct Request {
        struct nlmsghdr header;
        union {
                struct rtmsg route;
                struct ifinfomsg link;
                struct tcmsg queue;
        };
        uint8_t attributes[128];
} Request;

static void add_attribute(Request *request, unsigned short type, const void *data, size_t size)
{
        struct rtattr *attribute = (struct rtattr *) ((uint8_t *) request +
                                                      NLMSG_ALIGN(request->header.nlmsg_len));

        attribute->rta_type = type;
        attribute->rta_len = (unsigned short) RTA_LENGTH(size);
        memcpy(RTA_DATA(attribute), data, size);
        request->header.nlmsg_len = (uint32_t) (NLMSG_ALIGN(request->header.nlmsg_len) + RTA_SPACE(size));
}

/* Sends a request and reads the answer of the kernel. Returns its size, or a negative errno. */
static ssize_t query_kernel(const Request *request, void *answer, size_t size)
{
        const struct timeval timeout = { .tv_sec = TIMEOUT_SECONDS };
        ald_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        ssize_t n;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0 ||
                send(fd, request, request->header.nlmsg_len, 0) < 0)
                return -errno;
        n = recv(fd, answer, size, 0);
        return n < 0 ? -errno : n;
}

/* Returns the attributes of an answer, behind a header of this size; NULL if the answer is of another
 * type. */
static const struct rtattr *attributes_of(
        const struct nlmsghdr *answer, ssize_t size, unsigned type, size_t header, size_t *ret_size)
{
        *ret_size = 0;
        if (size < 0 || !NLMSG_OK(answer, (size_t) size) || answer->nlmsg_type != type ||
                answer->nlmsg_len < NLMSG_LENGTH(header))
                return NULL;
        *ret_size = answer->nlmsg_len - NLMSG_LENGTH(header);
        return (const struct rtattr *) ((const uint8_t *) NLMSG_DATA(answer) + NLMSG_ALIGN(header));
}

static const struct rtattr *find_attribute(
        const struct rtattr *attribute, size_t size, unsigned type, size_t least)
{
        /* This becomes negative after a last attribute without padding. */
        ssize_t left = (ssize_t) size;

        for (; attribute && RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
                if ((attribute->rta_type & NLA_TYPE_MASK) == type && RTA_PAYLOAD(attribute) >= least)
                        return attribute;
        return NULL;
}

/* Finds the bytes of an address of this family and returns their number. For AF_INET, the address may be
 * IPv4-mapped. */
static size_t bytes_of(const AldAddress *address, int family, const void **ret)
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) &address->storage;
        const struct sockaddr_in *four = (const struct sockaddr_in *) &address->storage;

        if (address->storage.ss_family == AF_INET)
                *ret = &four->sin_addr;
        else
                *ret = six->sin6_addr.s6_addr + (family == AF_INET ? 12 : 0);
        return family == AF_INET ? 4 : 16;
}

int ald_interface_of_route(const AldAddress *local, const AldAddress *peer, char ret[static IF_NAMESIZE])
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) &peer->storage;
        bool mapped = peer->storage.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
        int family = mapped ? AF_INET : peer->storage.ss_family;
        Request request = {
                .header = { .nlmsg_len = NLMSG_LENGTH(sizeof request.route),
                        .nlmsg_type = RTM_GETROUTE,
                        .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = (unsigned char) family },
        };
        _Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
        const struct rtattr *first, *found;
        char name[IF_NAMESIZE];
        const void *bytes;
        size_t size;
        uint32_t index = 0;

        if (peer->storage.ss_family == AF_INET6)
                index = six->sin6_scope_id;
        if (index == 0) {
                size = bytes_of(peer, family, &bytes);
                request.route.rtm_dst_len = (unsigned char) (size * 8);
                add_attribute(&request, RTA_DST, bytes, size);
                size = bytes_of(local, family, &bytes);
                request.route.rtm_src_len = (unsigned char) (size * 8);
                add_attribute(&request, RTA_SRC, bytes, size);
                first = attributes_of((const struct nlmsghdr *) answer,
                        query_kernel(&request, answer, sizeof answer), RTM_NEWROUTE, sizeof(struct rtmsg),
                        &size);
                found = find_attribute(first, size, RTA_OIF, sizeof index);
                if (!found)
                        return -ENODEV;
                memcpy(&index, RTA_DATA(found), sizeof index);
        }
        if (!if_indextoname(index, name))
                return -ENODEV;
        memcpy(ret, name, sizeof name);
        return 0;
}

char *ald_interface_between(const AldAddress *local, const AldAddress *peer)
{
        char name[IF_NAMESIZE];

        return ald_interface_of_route(local, peer, name) >= 0 ? g_strdup(name) : ald_address_interface(local);
}

int ald_interface_bytes(const char *name, AldInterfaceBytes *ret)
{
        Request request = {
                .header = { .nlmsg_len = NLMSG_LENGTH(sizeof request.link),
                        .nlmsg_type = RTM_GETLINK,
                        .nlmsg_flags = NLM_F_REQUEST },
                .link = { .ifi_index = (int) if_nametoindex(name) },
        };
        _Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
        const struct rtattr *first, *found;
        struct rtnl_link_stats64 counters;
        size_t size;

        if (request.link.ifi_index == 0)
                return -ENODEV;
        first = attributes_of((const struct nlmsghdr *) answer, query_kernel(&request, answer, sizeof answer),
                RTM_NEWLINK, sizeof(struct ifinfomsg), &size);
        found = find_attribute(first, size, IFLA_STATS64, offsetof(struct rtnl_link_stats64, rx_errors));
        if (!found)
                return -ENODATA;
        memcpy(&counters, RTA_DATA(found), offsetof(struct rtnl_link_stats64, rx_errors));
        *ret = (AldInterfaceBytes){
                .received = counters.rx_bytes,
                .sent = counters.tx_bytes,
                .received_packets = counters.rx_packets,
                .sent_packets = counters.tx_packets,
        };
        return 0;
}

/* Reads the counters of a queue, some of which the kernel may leave out. */
static void read_queue(const struct rtattr *kind, const struct rtattr *stats, AldInterfaceQueue *ret)
{
        size_t size = RTA_PAYLOAD(stats);
        const struct rtattr *basic = find_attribute(
                RTA_DATA(stats), size, TCA_STATS_BASIC, offsetof(struct gnet_stats_basic, packets));
        const struct rtattr *found = find_attribute(
                RTA_DATA(stats), size, TCA_STATS_QUEUE, sizeof(struct gnet_stats_queue));
        struct gnet_stats_basic bytes = {};
        struct gnet_stats_queue queue = {};

        if (basic)
                memcpy(&bytes, RTA_DATA(basic), offsetof(struct gnet_stats_basic, packets));
        if (found)
                memcpy(&queue, RTA_DATA(found), sizeof queue);
        *ret = (AldInterfaceQueue){
                .counts = basic && kind && strncmp(RTA_DATA(kind), NO_QUEUE, RTA_PAYLOAD(kind)) != 0,
                .bytes = bytes.bytes,
                .backlog = queue.backlog,
                .drops = queue.drops,
        };
}

int ald_interface_queue(const char *name, AldInterfaceQueue *ret)
{
        Request request = {
                .header = { .nlmsg_len = NLMSG_LENGTH(sizeof request.queue),
                        .nlmsg_type = RTM_GETQDISC,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO | NLM_F_ACK },
                .queue = { .tcm_ifindex = (int) if_nametoindex(name), .tcm_parent = TC_H_ROOT },
        };
        _Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
        const struct rtattr *first, *stats;
        size_t size;
        ssize_t n;

        /* Without NLM_F_ECHO, the kernel sends the answer only to sockets that subscribe to changes of
         * queues. */
        if (request.queue.tcm_ifindex == 0)
                return -ENODEV;
        n = query_kernel(&request, answer, sizeof answer);
        if (n < 0)
                return (int) n;
        *ret = (AldInterfaceQueue){};
        first = attributes_of((const struct nlmsghdr *) answer, n, RTM_NEWQDISC, sizeof(struct tcmsg), &size);
        stats = find_attribute(first, size, TCA_STATS2, 0);
        if (stats)
                read_queue(find_attribute(first, size, TCA_KIND, 1), stats, ret);
        return 0;
}

bool ald_interface_name_is_valid(const char *name)
{
        size_t n = strlen(name);

        if (n == 0 || n >= IF_NAMESIZE || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return false;
        for (; *name; name++)
                if (!g_ascii_isgraph(*name) || strchr("/:\"\\", *name))
                        return false;
        return true;
}
