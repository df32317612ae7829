/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/nl80211.h>

#include "services/link-probe/net/wifi.h"

#include <glib.h>

#define FAMILY 29
#define ROOM 4096

typedef struct Answer {
        _Alignas(struct nlmsghdr) char bytes[ROOM];
        size_t n;
} Answer;

/* One more message after those that are there. */
static struct nlmsghdr *add(Answer *answer, uint16_t type, size_t extra)
{
        struct nlmsghdr *header = mnl_nlmsg_put_header(answer->bytes + answer->n);

        header->nlmsg_type = type;
        if (extra > 0)
                mnl_nlmsg_put_extra_header(header, extra);
        return header;
}

static void end(Answer *answer, const struct nlmsghdr *header)
{
        answer->n += header->nlmsg_len;
}

static void add_end(Answer *answer, uint16_t type, int error)
{
        struct nlmsghdr *header = add(answer, type, sizeof(struct nlmsgerr));
        struct nlmsgerr *said = mnl_nlmsg_get_payload(header);

        said->error = error;
        end(answer, header);
}

static void put_rate(struct nlmsghdr *header, uint16_t direction, uint16_t table)
{
        struct nlattr *rate = mnl_attr_nest_start(header, direction);

        mnl_attr_put_u32(header, NL80211_RATE_INFO_BITRATE32, 12345);
        if (table != 0)
                mnl_attr_put_u8(header, table, 9);
        mnl_attr_nest_end(header, rate);
}

/* What the kernel says of an access point; tables 0: of no generation. */
static void add_station(Answer *answer, uint16_t sending, uint16_t receiving)
{
        static const unsigned char address[6] = { 2, 0, 0, 0, 0, 1 };
        struct nlmsghdr *header = add(answer, FAMILY, sizeof(struct genlmsghdr));
        struct nlattr *info;

        mnl_attr_put_u32(header, NL80211_ATTR_IFINDEX, 3);
        mnl_attr_put(header, NL80211_ATTR_MAC, sizeof address, address);
        info = mnl_attr_nest_start(header, NL80211_ATTR_STA_INFO);
        mnl_attr_put_u32(header, NL80211_STA_INFO_INACTIVE_TIME, 4);
        mnl_attr_put_u8(header, NL80211_STA_INFO_SIGNAL, (uint8_t) -50);
        put_rate(header, NL80211_STA_INFO_TX_BITRATE, sending);
        put_rate(header, NL80211_STA_INFO_RX_BITRATE, receiving);
        mnl_attr_nest_end(header, info);
        end(answer, header);
}

static void check_station(uint16_t sending, uint16_t receiving, unsigned generation)
{
        AldWifiStations stations = { 0 };
        Answer answer = { 0 };

        add_station(&answer, sending, receiving);
        g_assert_cmpint(ald_wifi_stations_answer(answer.bytes, answer.n, &stations), ==, 1);
        g_assert_cmpuint(stations.generation, ==, generation);
        g_assert_cmpuint(stations.several, ==, 0);
}

static void test_generations(void)
{
        check_station(NL80211_RATE_INFO_MCS, NL80211_RATE_INFO_MCS, 4);
        check_station(NL80211_RATE_INFO_VHT_MCS, NL80211_RATE_INFO_VHT_MCS, 5);
        check_station(NL80211_RATE_INFO_HE_MCS, NL80211_RATE_INFO_HE_MCS, 6);
        check_station(NL80211_RATE_INFO_EHT_MCS, NL80211_RATE_INFO_EHT_MCS, 7);
        check_station(0, 0, 0);
        /* A beacon was received last; what was sent tells. */
        check_station(NL80211_RATE_INFO_HE_MCS, 0, 6);
        check_station(NL80211_RATE_INFO_MCS, NL80211_RATE_INFO_HE_MCS, 6);
}

static void test_many_stations(void)
{
        AldWifiStations stations = { 0 };
        Answer answer = { 0 };

        add_station(&answer, NL80211_RATE_INFO_HE_MCS, NL80211_RATE_INFO_HE_MCS);
        add_station(&answer, 0, 0);
        add_station(&answer, NL80211_RATE_INFO_HE_MCS, 0);
        g_assert_cmpint(ald_wifi_stations_answer(answer.bytes, answer.n, &stations), ==, 1);
        g_assert_cmpuint(stations.generation, ==, 6);
        g_assert_cmpuint(stations.several, ==, 0);
        answer.n = 0;
        add_station(&answer, NL80211_RATE_INFO_MCS, 0);
        add_end(&answer, NLMSG_DONE, 0);
        g_assert_cmpint(ald_wifi_stations_answer(answer.bytes, answer.n, &stations), ==, 0);
        g_assert_cmpuint(stations.several, ==, 1);
}

static void test_family(void)
{
        struct nlmsghdr *header;
        Answer answer = { 0 };
        uint16_t family = 0;

        header = add(&answer, GENL_ID_CTRL, sizeof(struct genlmsghdr));
        mnl_attr_put_strz(header, CTRL_ATTR_FAMILY_NAME, NL80211_GENL_NAME);
        mnl_attr_put_u16(header, CTRL_ATTR_FAMILY_ID, FAMILY);
        end(&answer, header);
        g_assert_cmpint(ald_wifi_family_answer(answer.bytes, answer.n, &family), ==, 0);
        g_assert_cmpuint(family, ==, FAMILY);
        /* Where there is no Wi-Fi, nobody has that name. */
        answer.n = 0;
        add_end(&answer, NLMSG_ERROR, -ENOENT);
        g_assert_cmpint(ald_wifi_family_answer(answer.bytes, answer.n, &family), ==, -ENOENT);
}

/* However the answer is cut or changed, it is read without harm. */
static void test_rubbish(void)
{
        AldWifiStations stations = { 0 };
        Answer answer = { 0 };
        uint16_t family;

        add_station(&answer, NL80211_RATE_INFO_HE_MCS, NL80211_RATE_INFO_HE_MCS);
        for (size_t n = 0; n < answer.n; n++) {
                g_autofree char *cut = g_memdup2(answer.bytes, MAX(n, 1));

                g_assert_cmpint(ald_wifi_stations_answer(cut, n, &stations), <, 0);
                g_assert_cmpint(ald_wifi_family_answer(cut, n, &family), <, 0);
        }
        for (size_t i = 0; i < answer.n; i++)
                for (unsigned bit = 0; bit < 8; bit++) {
                        g_autofree char *changed = g_memdup2(answer.bytes, answer.n);

                        changed[i] ^= (char) (1 << bit);
                        (void) ald_wifi_stations_answer(changed, answer.n, &stations);
                        (void) ald_wifi_family_answer(changed, answer.n, &family);
                }
        answer.n = 0;
        add_end(&answer, NLMSG_ERROR, -EOPNOTSUPP);
        g_assert_cmpint(ald_wifi_stations_answer(answer.bytes, answer.n, &stations), ==, -EOPNOTSUPP);
}

/* Asked of the kernel that runs. */
static void test_no_wifi(void)
{
        g_assert_cmpuint(ald_wifi_generation("lo"), ==, 0);
        g_assert_cmpuint(ald_wifi_generation("nothing0"), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-wifi/generations", test_generations);
        g_test_add_func("/link-probe-wifi/many-stations", test_many_stations);
        g_test_add_func("/link-probe-wifi/family", test_family);
        g_test_add_func("/link-probe-wifi/rubbish", test_rubbish);
        g_test_add_func("/link-probe-wifi/none", test_no_wifi);
        return g_test_run();
}
