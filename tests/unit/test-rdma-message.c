/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/failure.h"
#include "probes/rdma/message.h"

#define END                                                                                       \
        "\"method\":1,\"msec\":5000,\"limit\":100,\"queues\":[{\"qpn\":17,\"psn\":5}],\"lid\":0," \
        "\"mtu\":5,\"address\":4096,\"buffer\":65536,\"key\":7,\"depth\":16,\"nonce\":9"
#define OFFER                                                                                          \
        "{\"type\":\"offer\",\"version\":1,\"port\":\"a\",\"manager\":0,\"immediate\":1,"              \
        "\"service-address\":\"\",\"service-port\":0,\"service-nonce\":0,\"msec\":5000,\"limit\":100," \
        "\"gids\":"
#define READY                                                                                               \
        "{\"type\":\"ready\",\"lid\":0,\"mtu\":5,\"address\":4096,\"buffer\":65536,\"key\":7,\"depth\":16," \
        "\"nonce\":9,\"queues\":"
#define QUEUES4 "{\"qpn\":0,\"psn\":1},{\"qpn\":0,\"psn\":1},{\"qpn\":0,\"psn\":1},{\"qpn\":0,\"psn\":1}"
#define QUEUES8 "[" QUEUES4 "," QUEUES4
#define GID "{\"index\":1,\"type\":\"rocev2\",\"gid\":\"fe80::1\"}"

static void test_round_trip(void)
{
        AldRdmaMessage use = { .type = ALD_RDMA_USE,
                .size = 65536,
                .gids.n = 1,
                .method = ALD_RDMA_SEND,
                .end = { 2, { { 0xffffff, 3 }, { 4, 0xffffff } }, 1, 4, UINT64_C(0x7fffffffffff), 1u << 20,
                        UINT32_MAX, 128, INT64_MAX } };
        AldRdmaMessage abort = {
                .type = ALD_RDMA_ABORT, .reason = ALD_FAILURE_NO_GID, .text = "no\x1b[2J GID"
        };
        g_autofree char *use_text = NULL, *abort_text = NULL;
        AldRdmaMessage read;

        use.gids.gids[0] = (AldGid){ .index = 3, .type = ALD_GID_ROCE_V2 };
        g_assert_cmpint(inet_pton(AF_INET6, "2001:db8::1", &use.gids.gids[0].bytes), ==, 1);
        use_text = ald_rdma_message_write(&use);
        g_assert_cmpint(ald_rdma_message_read(use_text, &read), ==, 0);
        g_assert_cmpmem(&read.end, sizeof read.end, &use.end, sizeof use.end);
        g_assert_cmpmem(&read.gids, sizeof read.gids, &use.gids, sizeof use.gids);
        abort_text = ald_rdma_message_write(&abort);
        g_assert_cmpint(ald_rdma_message_read(abort_text, &read), ==, 0);
        g_assert_cmpuint(read.reason, ==, ALD_FAILURE_NO_GID);
        g_assert_cmpstr(read.text, ==, "no?[2J GID");
}

static void test_refused(void)
{
        static const struct {
                const char *text;
                int error;
        } cases[] = {
                { "", -EBADMSG },
                { "[]", -EBADMSG },
                { "{\"type\":\"sing\"}", -EBADMSG },
                { "{\"type\":\"phase\"}", -EBADMSG },
                { "{\"type\":\"phase\",\"phase\":\"ping\"}", -EBADMSG },
                { "{\"type\":\"phase\",\"phase\":5}", -ERANGE },
                { "{\"type\":\"phase\",\"phase\":-1}", -ERANGE },
                { "{\"type\":\"phase\",\"phase\":1,\"phase\":2}", -EBADMSG },
                { "{\"type\":\"abort\",\"reason\":1000,\"text\":\"\"}", -ERANGE },
                { "{\"type\":\"use\",\"size\":65536,\"gids\":[]," END "}", 0 },
                { "{\"type\":\"use\",\"size\":65536,\"gids\":[" GID "]," END "}", 0 },
                { "{\"type\":\"use\",\"size\":9000000,\"gids\":[]," END "}", -ERANGE },
                { "{\"type\":\"use\",\"size\":65536,\"gids\":7," END "}", -EBADMSG },
                { "{\"type\":\"hello\",\"version\":1,\"port\":\"a\",\"manager\":1}", 0 },
                { "{\"type\":\"hello\",\"version\":1,\"port\":\"a\",\"manager\":1,\"automatic\":1}", 0 },
                { "{\"type\":\"hello\",\"version\":1,\"port\":\"a\",\"manager\":1,\"automatic\":true}",
                        -EBADMSG },
                { "{\"type\":\"hello\",\"version\":1,\"port\":7,\"manager\":1}", -EBADMSG },
                { "{\"type\":\"hello\",\"version\":1,\"port\":\"a\",\"manager\":2}", -ERANGE },
                { OFFER "[]}", 0 },
                { READY "[]}", -EBADMSG },
                { READY "[7]}", -EBADMSG },
                { READY "[{\"qpn\":16777216,\"psn\":0}]}", -ERANGE },
                { READY "[{\"qpn\":0,\"psn\":-1}]}", -ERANGE },
                { READY "[{\"qpn\":0}]}", -EBADMSG },
                { READY QUEUES8 "]}", 0 },
                { READY QUEUES8 ",{\"qpn\":0,\"psn\":1}]}", -EBADMSG },
                { "{\"type\":\"use\",\"size\":65536,\"gids\":[7]," END "}", -EBADMSG },
                { OFFER "[{\"index\":-1,\"type\":\"ib\","
                        "\"gid\":\"::1\"}]}",
                        -EBADMSG },
                { OFFER "[{\"index\":1,\"type\":\"x\","
                        "\"gid\":\"::1\"}]}",
                        -ERANGE },
                { OFFER "[{\"index\":1,\"type\":\"ib\","
                        "\"gid\":\"x\"}]}",
                        -ERANGE },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldRdmaMessage read = { .size = 1 };

                g_assert_cmpint(ald_rdma_message_read(cases[i].text, &read), ==, cases[i].error);
                g_assert_cmpint(cases[i].error < 0, ==, read.size == 1);
        }
}

/* More GIDs than have room, deep nesting. */
static void test_large(void)
{
        g_autoptr(GString) text = g_string_new("{\"type\":\"use\",\"size\":65536," END ",\"gids\":[" GID);
        g_autofree char *deep = g_strnfill(100000, '[');
        AldRdmaMessage read;

        for (unsigned i = 1; i < ALD_GIDS_MAX; i++)
                g_string_append(text, "," GID);
        g_string_append(text, "]}");
        g_assert_cmpint(ald_rdma_message_read(text->str, &read), ==, 0);
        g_assert_cmpuint(read.gids.n, ==, ALD_GIDS_MAX);
        g_string_truncate(text, text->len - 2);
        g_string_append(text, "," GID "]}");
        g_assert_cmpint(ald_rdma_message_read(text->str, &read), ==, -EBADMSG);
        g_assert_cmpint(ald_rdma_message_read(deep, &read), ==, -EBADMSG);
}

/* A spread of 0 is one; an older peer says none. */
static void test_spread(void)
{
        AldRdmaMessage stop = { .type = ALD_RDMA_STOP, .bits_per_second = 5, .spread = { true, 0 } }, read;
        g_autofree char *with = ald_rdma_message_write(&stop), *without = NULL;
        static const char odd[] = "{\"type\":\"stop\",\"bits-per-second\":1,\"mean\":1,\"interval\":0,"
                                  "\"bytes\":1,\"nsec\":1,\"bins\":1,\"spread\":-1}";

        g_assert_cmpint(ald_rdma_message_read(with, &read), ==, 0);
        g_assert_true(read.spread.known && read.spread.value == 0);
        g_free(with);
        stop.spread.value = 1000000001;
        with = ald_rdma_message_write(&stop);
        g_assert_cmpint(ald_rdma_message_read(with, &read), ==, 0);
        g_assert_false(read.spread.known);
        stop.spread.known = false;
        without = ald_rdma_message_write(&stop);
        g_assert_cmpint(ald_rdma_message_read(without, &read), ==, 0);
        g_assert_false(read.spread.known);
        g_assert_cmpint(ald_rdma_message_read(odd, &read), ==, -ERANGE);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/message/round-trip", test_round_trip);
        g_test_add_func("/rdma/message/refused", test_refused);
        g_test_add_func("/rdma/message/large", test_large);
        g_test_add_func("/rdma/message/spread", test_spread);
        return g_test_run();
}
