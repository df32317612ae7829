/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/fd.h"
#include <glib.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>

#include "common/fd.h"
#include "services/link-probe/net/wifi.h"

static struct nlmsghdr *put_header(char *buffer, uint16_t type, uint16_t flags, uint8_t command)
{
        struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
        struct genlmsghdr *generic;

        header->nlmsg_type = type;
        header->nlmsg_flags = NLM_F_REQUEST | flags;
        header->nlmsg_seq = 1;
        generic = mnl_nlmsg_put_extra_header(header, sizeof *generic);
        generic->cmd = command;
        generic->version = 1;
        return header;
}

size_t ald_wifi_family_request(char buffer[static ALD_WIFI_REQUEST_MAX])
{
        struct nlmsghdr *header = put_header(buffer, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);

        mnl_attr_put_strz(header, CTRL_ATTR_FAMILY_NAME, NL80211_GENL_NAME);
        return header->nlmsg_len;
}

size_t ald_wifi_stations_request(uint16_t family, unsigned index, char buffer[static ALD_WIFI_REQUEST_MAX])
{
        struct nlmsghdr *header = put_header(buffer, family, NLM_F_DUMP, NL80211_CMD_GET_STATION);

        mnl_attr_put_u32(header, NL80211_ATTR_IFINDEX, index);
        return header->nlmsg_len;
}

static int read_error(const struct nlmsghdr *header)
{
        const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

        return mnl_nlmsg_get_payload_len(header) >= sizeof *error && error->error < 0 ? error->error
                                                                                      : -EBADMSG;
}

static int read_family(const struct nlattr *attribute, void *userdata)
{
        uint16_t *family = userdata;

        if (mnl_attr_get_type(attribute) == CTRL_ATTR_FAMILY_ID &&
                mnl_attr_validate(attribute, MNL_TYPE_U16) >= 0)
                *family = mnl_attr_get_u16(attribute);
        return MNL_CB_OK;
}

int ald_wifi_family_answer(const void *bytes, size_t n, uint16_t *ret_family)
{
        const struct nlmsghdr *header = bytes;
        uint16_t family = 0;

        if (!mnl_nlmsg_ok(header, (int) n))
                return -EBADMSG;
        if (header->nlmsg_type == NLMSG_ERROR)
                return read_error(header);
        if (header->nlmsg_type != GENL_ID_CTRL ||
                mnl_nlmsg_get_payload_len(header) < sizeof(struct genlmsghdr) ||
                mnl_attr_parse(header, sizeof(struct genlmsghdr), read_family, &family) < 0 ||
                family < GENL_MIN_ID)
                return -EBADMSG;
        *ret_family = family;
        return 0;
}

/* Reads the generation from the modulation table of a rate. */
static int read_rate(const struct nlattr *attribute, void *userdata)
{
        unsigned *generation = userdata, found = 0;

        switch (mnl_attr_get_type(attribute)) {
        case NL80211_RATE_INFO_MCS:
                found = 4;
                break;
        case NL80211_RATE_INFO_VHT_MCS:
                found = 5;
                break;
        case NL80211_RATE_INFO_HE_MCS:
                found = 6;
                break;
        case NL80211_RATE_INFO_EHT_MCS:
                found = 7;
                break;
        default:
                break;
        }
        *generation = MAX(*generation, found);
        return MNL_CB_OK;
}

static int read_station_info(const struct nlattr *attribute, void *userdata)
{
        uint16_t type = mnl_attr_get_type(attribute);

        if (type == NL80211_STA_INFO_TX_BITRATE || type == NL80211_STA_INFO_RX_BITRATE)
                return mnl_attr_parse_nested(attribute, read_rate, userdata);
        return MNL_CB_OK;
}

static int read_station(const struct nlattr *attribute, void *userdata)
{
        return mnl_attr_get_type(attribute) == NL80211_ATTR_STA_INFO
                       ? mnl_attr_parse_nested(attribute, read_station_info, userdata)
                       : MNL_CB_OK;
}

/* Adds the generation of a station. One that has only sent frames without a generation, such as beacons, is
 * ignored. */
static void take_station(AldWifiStations *stations, unsigned generation)
{
        if (generation == 0)
                return;
        stations->several |= stations->generation != 0 && stations->generation != generation;
        stations->generation = generation;
}

int ald_wifi_stations_answer(const void *bytes, size_t n, AldWifiStations *stations)
{
        const struct nlmsghdr *header = bytes;
        int left = (int) n;

        if (!mnl_nlmsg_ok(header, left))
                return -EBADMSG;
        for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left)) {
                unsigned generation = 0;

                if (header->nlmsg_type == NLMSG_DONE)
                        return 0;
                if (header->nlmsg_type == NLMSG_ERROR)
                        return read_error(header);
                if (mnl_nlmsg_get_payload_len(header) < sizeof(struct genlmsghdr) ||
                        mnl_attr_parse(header, sizeof(struct genlmsghdr), read_station, &generation) < 0)
                        return -EBADMSG;
                take_station(stations, generation);
        }
        return 1;
}

#define ANSWER_MAX 32768u
/* The maximum number of datagrams: an access point may have hundreds of stations. */
#define ANSWERS_MAX 64u

static int send_request(int fd, const char *request, size_t size)
{
        struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

        return sendto(fd, request, size, 0, (struct sockaddr *) &kernel, sizeof kernel) < 0 ? -errno : 0;
}

/* The kernel queues each reply before the preceding call returns. */
static int receive_answer(int fd, char answer[static ANSWER_MAX])
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
                r = receive_answer(fd, answer);
        return r < 0 ? r : ald_wifi_family_answer(answer, (size_t) r, ret);
}

static int read_stations(
        int fd, uint16_t family, unsigned index, char answer[static ANSWER_MAX], AldWifiStations *stations)
{
        _Alignas(struct nlmsghdr) char request[ALD_WIFI_REQUEST_MAX];
        int r = send_request(fd, request, ald_wifi_stations_request(family, index, request));

        for (unsigned i = 0; r >= 0 && i < ANSWERS_MAX; i++) {
                r = receive_answer(fd, answer);
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
