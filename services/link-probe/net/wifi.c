/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "services/link-probe/net/wifi-message.h"
#include "services/link-probe/net/wifi.h"

#define ANSWER_MAX 32768u
/* Maximum number of datagrams: an access point may have hundreds of stations. */
#define ANSWERS_MAX 64u

static int send_request(int fd, const char *request, size_t size)
{
        struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

        return sendto(fd, request, size, 0, (struct sockaddr *) &kernel, sizeof kernel) < 0 ? -errno : 0;
}

/* The kernel queues each reply before the preceding call returns. */
static int receive(int fd, char answer[static ANSWER_MAX])
{
        struct sockaddr_nl sender = { 0 };
        socklen_t size = sizeof sender;
        ssize_t n = recvfrom(fd, answer, ANSWER_MAX, MSG_DONTWAIT, (struct sockaddr *) &sender, &size);

        if (n < 0)
                return -errno;
        return sender.nl_pid == 0 ? (int) n : -EBADMSG;
}

static int find_family(int fd, char answer[static ANSWER_MAX], uint16_t *ret)
{
        _Alignas(struct nlmsghdr) char request[ALD_WIFI_REQUEST_MAX];
        int r = send_request(fd, request, ald_wifi_family_request(request));

        if (r >= 0)
                r = receive(fd, answer);
        return r < 0 ? r : ald_wifi_family_answer(answer, (size_t) r, ret);
}

static int read_stations(
        int fd, uint16_t family, unsigned index, char answer[static ANSWER_MAX], AldWifiStations *stations)
{
        _Alignas(struct nlmsghdr) char request[ALD_WIFI_REQUEST_MAX];
        int r = send_request(fd, request, ald_wifi_stations_request(family, index, request));

        for (unsigned i = 0; r >= 0 && i < ANSWERS_MAX; i++) {
                r = receive(fd, answer);
                if (r >= 0)
                        r = ald_wifi_stations_answer(answer, (size_t) r, stations);
                if (r == 0)
                        return 0;
        }
        return r < 0 ? r : -E2BIG;
}

unsigned ald_wifi_generation(const char *interface)
{
        _Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
        AldWifiStations stations = { 0 };
        unsigned index = if_nametoindex(interface);
        ald_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
        uint16_t family;

        if (fd < 0 || index == 0 || find_family(fd, answer, &family) < 0 ||
                read_stations(fd, family, index, answer, &stations) < 0 || stations.several)
                return 0;
        return stations.generation;
}
