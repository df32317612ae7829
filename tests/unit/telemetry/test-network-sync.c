/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/network/network-sync.h"
#include "tests/unit/log-count.h"
#include "tests/unit/network-messages.h"

#define TELL ALD_NETWORK_SYNC_TELL
#define ASK ALD_NETWORK_SYNC_ASK
#define AGAIN ALD_NETWORK_SYNC_AGAIN
#define WELL ALD_NETWORK_SYNC_WELL

/* Plays the kernel to one side of the socket. */
typedef struct Kernel {
        AldLinks *links;
        AldNetworkSync *sync;
        uint32_t sequence;
} Kernel;

static Kernel *kernel_new(void)
{
        Kernel *kernel = g_new0(Kernel, 1);

        kernel->links = ald_links_new();
        kernel->sync = ald_network_sync_new(kernel->links);
        return kernel;
}

static void kernel_free(Kernel *kernel)
{
        ald_network_sync_free(kernel->sync);
        ald_links_free(kernel->links);
        g_free(kernel);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Kernel, kernel_free)

static void expect_request(Kernel *kernel, uint16_t type)
{
        TestMessage m;
        size_t size = ald_network_sync_request(kernel->sync, &m);

        g_assert_cmpuint(size, <=, ALD_NETWORK_SYNC_REQUEST_MAX);
        g_assert_cmpuint(m.header.nlmsg_len, ==, size);
        g_assert_cmpuint(m.header.nlmsg_type, ==, type);
        g_assert_cmpuint(m.header.nlmsg_flags, ==, NLM_F_REQUEST | NLM_F_DUMP);
        g_assert_cmpuint(m.header.nlmsg_seq, !=, kernel->sequence);
        kernel->sequence = m.header.nlmsg_seq;
}

static void begin(Kernel *kernel)
{
        ald_network_sync_begin(kernel->sync);
        expect_request(kernel, RTM_GETLINK);
}

static unsigned feed(Kernel *kernel, TestMessage *m)
{
        return ald_network_sync_feed(kernel->sync, m, MNL_ALIGN(m->header.nlmsg_len));
}

/* A part of a dump, with these flags beside. */
static unsigned part(Kernel *kernel, TestMessage *m, uint16_t flags)
{
        m->header.nlmsg_flags = NLM_F_MULTI | flags;
        m->header.nlmsg_seq = kernel->sequence;
        return feed(kernel, m);
}

static unsigned link_part(Kernel *kernel, int index, const char *name, uint16_t flags)
{
        TestMessage m;

        test_link(&m, index, name);
        return part(kernel, &m, flags);
}

static unsigned address_part(Kernel *kernel, int index, const char *text)
{
        TestMessage m;

        test_address(&m, RTM_NEWADDR, index, text);
        return part(kernel, &m, 0);
}

static unsigned done(Kernel *kernel, int error, uint16_t flags)
{
        TestMessage m = { 0 };

        mnl_nlmsg_put_header(&m)->nlmsg_type = NLMSG_DONE;
        *(int *) mnl_nlmsg_put_extra_header(&m.header, sizeof(int)) = error;
        return part(kernel, &m, flags);
}

static unsigned event_link(Kernel *kernel, int index, const char *name)
{
        TestMessage m;

        test_link(&m, index, name);
        return feed(kernel, &m);
}

static unsigned event_gone(Kernel *kernel, int index)
{
        TestMessage m;

        test_link_gone(&m, index);
        return feed(kernel, &m);
}

/* lo and eth0, each with an address. */
static void whole_round(Kernel *kernel)
{
        begin(kernel);
        link_part(kernel, 1, "lo", 0);
        link_part(kernel, 2, "eth0", 0);
        g_assert_cmpuint(done(kernel, 0, 0), ==, ASK);
        expect_request(kernel, RTM_GETADDR);
        address_part(kernel, 1, "127.0.0.1/8");
        address_part(kernel, 2, "192.0.2.1/24");
        g_assert_cmpuint(done(kernel, 0, 0), ==, TELL | WELL);
}

static void test_first_round(void)
{
        g_autoptr(Kernel) kernel = kernel_new();

        begin(kernel);
        g_assert_cmpuint(link_part(kernel, 1, "lo", 0), ==, 0);
        /* An event meanwhile counts, and is told with the rest. */
        g_assert_cmpuint(event_link(kernel, 5, "eth5"), ==, 0);
        g_assert_cmpuint(link_part(kernel, 2, "eth0", 0), ==, 0);
        g_assert_cmpuint(done(kernel, 0, 0), ==, ASK);
        expect_request(kernel, RTM_GETADDR);
        g_assert_cmpuint(address_part(kernel, 5, "192.0.2.5/24"), ==, 0);
        g_assert_cmpuint(done(kernel, 0, 0), ==, TELL | WELL);
        g_assert_cmpuint(ald_links_count(kernel->links), ==, 3);
        g_assert_cmpuint(ald_links_find(kernel->links, 5)->addresses->len, ==, 1);
}

static void test_events(void)
{
        g_autoptr(Kernel) kernel = kernel_new();

        whole_round(kernel);
        g_assert_cmpuint(event_link(kernel, 3, "eth1"), ==, TELL);
        g_assert_cmpuint(event_gone(kernel, 3), ==, TELL);
        g_assert_cmpuint(event_gone(kernel, 3), ==, 0);
        /* No dump is under way that could end. */
        g_assert_cmpuint(done(kernel, 0, 0), ==, 0);
        g_assert_cmpuint(ald_links_count(kernel->links), ==, 2);
}

static void test_lost(void)
{
        g_autoptr(Kernel) kernel = kernel_new();

        whole_round(kernel);
        g_assert_cmpuint(ald_network_sync_lost(kernel->sync), ==, AGAIN);
        g_assert_cmpuint(ald_links_count(kernel->links), ==, 2);

        /* Meanwhile eth0 went and eth1 came; nothing goes before the dump is over. */
        begin(kernel);
        g_assert_cmpuint(link_part(kernel, 1, "lo", 0), ==, TELL);
        g_assert_cmpuint(link_part(kernel, 3, "eth1", 0), ==, TELL);
        g_assert_nonnull(ald_links_find(kernel->links, 2));
        /* The end of a dump given up before is not the end of this one. */
        kernel->sequence--;
        g_assert_cmpuint(done(kernel, 0, 0), ==, 0);
        kernel->sequence++;
        g_assert_cmpuint(done(kernel, 0, 0), ==, ASK);
        expect_request(kernel, RTM_GETADDR);
        g_assert_null(ald_links_find(kernel->links, 2));
        address_part(kernel, 3, "192.0.2.3/24");
        g_assert_cmpuint(ald_links_find(kernel->links, 1)->addresses->len, ==, 1);
        g_assert_cmpuint(done(kernel, 0, 0), ==, TELL | WELL);
        g_assert_cmpuint(ald_links_find(kernel->links, 1)->addresses->len, ==, 0);
        g_assert_cmpuint(ald_links_find(kernel->links, 3)->addresses->len, ==, 1);
}

/* What was lost while a round is on makes another one come after it, not beside it. */
static void test_lost_in_round(void)
{
        g_autoptr(Kernel) kernel = kernel_new();

        begin(kernel);
        g_assert_cmpuint(ald_network_sync_lost(kernel->sync), ==, 0);
        link_part(kernel, 1, "lo", 0);
        g_assert_cmpuint(done(kernel, 0, 0), ==, ASK);
        expect_request(kernel, RTM_GETADDR);
        g_assert_cmpuint(done(kernel, 0, 0), ==, TELL | AGAIN);
        whole_round(kernel);
}

static void test_interrupted(void)
{
        g_autoptr(Kernel) kernel = kernel_new();

        whole_round(kernel);
        begin(kernel);
        link_part(kernel, 1, "lo", NLM_F_DUMP_INTR);
        g_assert_cmpuint(done(kernel, 0, 0), ==, ASK);
        expect_request(kernel, RTM_GETADDR);
        address_part(kernel, 1, "127.0.0.1/8");
        g_assert_cmpuint(done(kernel, 0, 0), ==, TELL | AGAIN);
        /* It may just have been passed over. */
        g_assert_nonnull(ald_links_find(kernel->links, 2));

        /* The kernel may say so with the end alone. */
        begin(kernel);
        link_part(kernel, 1, "lo", 0);
        done(kernel, 0, 0);
        expect_request(kernel, RTM_GETADDR);
        address_part(kernel, 1, "127.0.0.1/8");
        g_assert_cmpuint(done(kernel, 0, NLM_F_DUMP_INTR), ==, TELL | AGAIN);
        g_assert_null(ald_links_find(kernel->links, 2));
        whole_round(kernel);
}

static void test_refused(void)
{
        g_autoptr(Kernel) kernel = kernel_new();
        TestMessage m = { 0 };

        log_count_reset();
        for (int i = 0; i < 3; i++) {
                begin(kernel);
                memset(&m, 0, sizeof m);
                mnl_nlmsg_put_header(&m)->nlmsg_type = NLMSG_ERROR;
                ((struct nlmsgerr *) mnl_nlmsg_put_extra_header(&m.header, sizeof(struct nlmsgerr)))->error =
                        -EBUSY;
                m.header.nlmsg_seq = kernel->sequence;
                g_assert_cmpuint(feed(kernel, &m), ==, ASK);
                expect_request(kernel, RTM_GETADDR);
                g_assert_cmpuint(done(kernel, -ENOMEM, 0), ==, TELL | AGAIN);
        }
        g_assert_cmpuint(log_count("rtnetlink"), ==, 1);

        /* An end that was cut off is no good end. */
        begin(kernel);
        memset(&m, 0, sizeof m);
        mnl_nlmsg_put_header(&m)->nlmsg_type = NLMSG_DONE;
        part(kernel, &m, 0);
        g_assert_cmpuint(done(kernel, 0, 0), ==, TELL | AGAIN);
}

static void test_overrun(void)
{
        g_autoptr(Kernel) kernel = kernel_new();
        TestMessage m = { 0 };

        whole_round(kernel);
        mnl_nlmsg_put_header(&m)->nlmsg_type = NLMSG_OVERRUN;
        g_assert_cmpuint(feed(kernel, &m), ==, AGAIN);
        m.header.nlmsg_type = NLMSG_NOOP;
        g_assert_cmpuint(feed(kernel, &m), ==, 0);
}

/* One damaged message costs itself only, and one line of log in all. */
static void test_damaged(void)
{
        g_autoptr(Kernel) kernel = kernel_new();
        TestMessage m, good;
        struct {
                char bytes[8192] __attribute__((aligned(8)));
        } datagram;
        size_t at = 0;

        whole_round(kernel);
        log_count_reset();
        for (int i = 0; i < 3; i++) {
                test_link_start(&m, RTM_NEWLINK, 10 + i);
                memcpy(datagram.bytes + at, &m, m.header.nlmsg_len);
                at += MNL_ALIGN(m.header.nlmsg_len);
                test_link(&good, 20 + i, "good");
                memcpy(datagram.bytes + at, &good, good.header.nlmsg_len);
                at += MNL_ALIGN(good.header.nlmsg_len);
        }
        g_assert_cmpuint(ald_network_sync_feed(kernel->sync, datagram.bytes, at), ==, TELL);
        g_assert_cmpuint(ald_links_count(kernel->links), ==, 5);
        g_assert_cmpuint(log_count("rtnetlink"), ==, 1);

        /* A datagram shorter than its messages say. */
        test_link(&good, 30, "cut");
        g_assert_cmpuint(ald_network_sync_feed(kernel->sync, &good, good.header.nlmsg_len - 4), ==, 0);
        good.header.nlmsg_len = UINT32_MAX - 8;
        g_assert_cmpuint(ald_network_sync_feed(kernel->sync, &good, sizeof good), ==, 0);
        good.header.nlmsg_len = 8;
        g_assert_cmpuint(ald_network_sync_feed(kernel->sync, &good, sizeof good), ==, 0);
        g_assert_cmpuint(ald_network_sync_feed(kernel->sync, &good, 3), ==, 0);
        g_assert_cmpuint(ald_network_sync_feed(kernel->sync, &good, 0), ==, 0);
}

static void test_room_again(void)
{
        g_autoptr(Kernel) kernel = kernel_new();

        whole_round(kernel);
        for (int i = 3; i <= ALD_LINKS_MAX + 1; i++)
                event_link(kernel, i, "d");
        g_assert_cmpuint(event_gone(kernel, 4), ==, TELL | AGAIN);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/network-sync/first-round", test_first_round);
        g_test_add_func("/network-sync/events", test_events);
        g_test_add_func("/network-sync/lost", test_lost);
        g_test_add_func("/network-sync/lost-in-round", test_lost_in_round);
        g_test_add_func("/network-sync/interrupted", test_interrupted);
        g_test_add_func("/network-sync/refused", test_refused);
        g_test_add_func("/network-sync/overrun", test_overrun);
        g_test_add_func("/network-sync/damaged", test_damaged);
        g_test_add_func("/network-sync/room-again", test_room_again);
        return g_test_run();
}
