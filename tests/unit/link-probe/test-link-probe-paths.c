/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Routes, who speaks TLS, who is left alone, what is kept of each path. */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "probes/listen/listener.h"
#include "services/common/errors.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/schedule/deferrals.h"

#define PEER "0000000000000000000000000000000b"
#define HOUR (UINT64_C(3600) * 1000000)

static int answer(uint16_t type, uint8_t kind, unsigned index, size_t cut, unsigned *ret)
{
        _Alignas(struct nlmsghdr) char buffer[128] = { 0 };
        struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
        struct rtmsg *message = mnl_nlmsg_put_extra_header(header, sizeof *message);

        header->nlmsg_type = type;
        message->rtm_type = kind;
        if (index != 0)
                mnl_attr_put_u32(header, RTA_OIF, index);
        return ald_route_answer(buffer, header->nlmsg_len - cut, ret);
}

static void test_route_answer(void)
{
        unsigned index = 0;

        g_assert_cmpint(answer(RTM_NEWROUTE, RTN_UNICAST, 7, 0, &index), ==, 0);
        g_assert_cmpuint(index, ==, 7);
        g_assert_cmpint(answer(RTM_NEWROUTE, RTN_LOCAL, 7, 0, &index), ==, -EHOSTUNREACH);
        g_assert_cmpint(answer(RTM_NEWROUTE, RTN_BLACKHOLE, 7, 0, &index), ==, -ENONET);
        g_assert_cmpint(answer(RTM_NEWROUTE, RTN_UNICAST, 0, 0, &index), ==, -EBADMSG);
        g_assert_cmpint(answer(RTM_NEWLINK, RTN_UNICAST, 7, 0, &index), ==, -EBADMSG);
        g_assert_cmpint(answer(RTM_NEWROUTE, RTN_UNICAST, 7, 4, &index), ==, -EBADMSG);
        g_assert_cmpint(ald_route_answer("", 0, &index), ==, -EBADMSG);
}

static void test_route_of_our_own(void)
{
        char name[IFNAMSIZ];

        g_assert_cmpint(ald_route_lookup("127.0.0.1", NULL, name), ==, -EHOSTUNREACH);
        g_assert_cmpint(ald_route_lookup("no address", NULL, name), ==, -EINVAL);
        g_assert_cmpint(ald_route_lookup("192.0.2.1", "no-such-one", name), ==, -ENODEV);
        g_assert_true(ald_route_is_link_local("fe80::1"));
        g_assert_false(ald_route_is_link_local("2001:db8::1"));
        g_assert_false(ald_route_is_link_local("192.0.2.1"));
}

static void test_first_bytes(void)
{
        g_assert_true(ald_first_bytes_are_tls((const unsigned char *) "\x16\x03\x01", 3));
        g_assert_false(ald_first_bytes_are_tls((const unsigned char *) "\x16", 1));
        g_assert_false(ald_first_bytes_are_tls((const unsigned char *) "GET", 3));
}

static unsigned count_deferred(AldDeferrals *deferrals, uint64_t now)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        ald_deferrals_append(deferrals, now, names);
        return names->len;
}

static void test_deferrals(void)
{
        AldDeferrals *deferrals = ald_deferrals_new(ALD_DEFERRAL_MIN_USEC, ALD_DEFERRAL_MAX_USEC);
        uint64_t span = ald_deferrals_add(deferrals, PEER, 1000);

        g_assert_cmpuint(span, >=, ALD_DEFERRAL_MIN_USEC);
        g_assert_cmpuint(span, <=, ALD_DEFERRAL_MAX_USEC);
        g_assert_cmpuint(count_deferred(deferrals, 1000 + span - 1), ==, 1);
        g_assert_cmpuint(count_deferred(deferrals, 1000 + span), ==, 0);
        for (unsigned i = 0; i < 2 * ALD_DEFERRALS_MAX; i++) {
                g_autofree char *node = g_strdup_printf("%u", i);

                ald_deferrals_add(deferrals, node, 1000);
        }
        g_assert_cmpuint(count_deferred(deferrals, 1000), ==, ALD_DEFERRALS_MAX);
        ald_deferrals_free(deferrals);
}

typedef struct Kept {
        unsigned n, n_dropped;
        uint64_t failures, measured;
        char *failure;
} Kept;

static void on_changed(AldKind kind, const char *key, const AldRecord *record, void *userdata)
{
        const AldLinkSocket *fields = ald_record_as(record, LINK_SOCKET, AldLinkSocket);
        Kept *kept = userdata;

        g_assert_cmpint(kind, ==, ALD_KIND_LINK_SOCKET);
        if (!fields) {
                kept->n_dropped++;
                return;
        }
        kept->n++;
        kept->failures = fields->failures;
        kept->measured = fields->measured_usec;
        g_free(kept->failure);
        kept->failure = g_strdup(fields->failure);
        g_assert_cmpstr(fields->source, ==, "0000000000000000000000000000000a");
        g_assert_cmpstr(fields->sink, ==, PEER);
}

static void fail(AldResults *results, unsigned host, const char *reason, uint64_t now)
{
        g_autofree char *address = g_strdup_printf("10.0.%u.%u", host / 256, host % 256);
        AldProbeTarget target;

        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_socket, PEER, address, NULL), ==, 0);
        ald_results_fail(results, &target, reason, 5, now);
}

static void test_results(void)
{
        AldResults *results = ald_results_new("0000000000000000000000000000000a");
        Kept kept = { 0 };

        ald_results_watch(results, on_changed, &kept);
        fail(results, 0, "one", 1);
        fail(results, 0, "two", 2);
        g_assert_cmpstr(kept.failure, ==, "two");
        /* The state service counts them. */
        g_assert_cmpuint(kept.failures, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(kept.measured, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_results_rate(results, "eth0"), ==, ALD_ABSENT_UINT64);
        for (unsigned i = 1; i <= ALD_RESULTS_MAX; i++)
                fail(results, i, "x", 3);
        g_assert_cmpuint(kept.n_dropped, ==, 1);
        ald_results_expire(results, 2 * HOUR + 2);
        g_assert_cmpuint(kept.n_dropped, ==, 1);
        fail(results, 1, "y", HOUR);
        ald_results_expire(results, 2 * HOUR + 3);
        g_assert_cmpuint(kept.n_dropped, ==, ALD_RESULTS_MAX);
        g_free(kept.failure);
        ald_results_free(results);
}

/* After each failure a link-local address is looked for behind the next interface. */
static void test_scopes_take_turns(void)
{
        AldInterface interfaces[2] = { ALD_INTERFACE_INIT, ALD_INTERFACE_INIT };
        const AldCandidate candidate = { .address = "10.0.0.7",
                .link_local = true,
                .scopes = { &interfaces[0], &interfaces[1] },
                .n_scopes = 2 };
        AldResults *results = ald_results_new("0000000000000000000000000000000a");

        interfaces[0].id = "eth0";
        interfaces[1].id = "eth1";
        for (unsigned i = 0; i < 4; i++) {
                g_assert_true(ald_results_choose(results, PEER, &candidate) == &interfaces[i % 2]);
                fail(results, 7, "x", 1 + i);
                g_assert_false(ald_results_reached(results, PEER, "10.0.0.7"));
        }
        ald_results_free(results);
}

static AldRecord *make_network(AldInterface *row, const char *id, const char *const *addresses)
{
        AldNetwork network = ALD_NETWORK_INIT;
        AldRecord *record;

        row->id = id;
        row->type = "ethernet";
        row->carrier = 1;
        row->addresses = addresses;
        network.interfaces.items = row;
        network.interfaces.n = 1;
        g_assert_cmpint(ald_record_new(ALD_KIND_NETWORK, &network, &record), ==, 0);
        return record;
}

static void test_request(void)
{
        const char *const here[] = { "192.0.2.1/24", NULL }, *const there[] = { "192.0.2.2/24", NULL };
        AldInterface rows[2] = { ALD_INTERFACE_INIT, ALD_INTERFACE_INIT };
        g_autoptr(AldRecord) own = make_network(&rows[0], "eth0", here);
        g_autoptr(AldRecord) peer = make_network(&rows[1], "eth1", there);
        const AldNodeRecords none = { 0 }, ours = { .of[ALD_KIND_NETWORK] = own },
                             theirs = { .of[ALD_KIND_NETWORK] = peer };
        g_autoptr(GArray) targets = ald_probe_targets_new();
        AldProbeTarget wanted = { .kind = &ald_probe_socket, .peer = PEER, .rtt_only = true };
        AldResults *results = ald_results_new("0000000000000000000000000000000a");
        AldProbeFacts facts = { .own = &ours, .peer = &none, .results = results };

        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, -ALD_E_NO_SUCH_ADDRESS);
        facts = (AldProbeFacts){ .own = &none, .peer = &theirs, .results = results };
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, -ALD_E_NO_SUCH_ADDRESS);
        facts.own = &ours;
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, 0);
        g_assert_cmpuint(targets->len, ==, 1);
        g_assert_cmpstr(g_array_index(targets, AldProbeTarget, 0).address, ==, "192.0.2.2");
        g_assert_cmpstr(g_array_index(targets, AldProbeTarget, 0).interface, ==, "eth0");
        g_assert_true(g_array_index(targets, AldProbeTarget, 0).rtt_only);
        g_strlcpy(wanted.address, "192.0.2.3", sizeof wanted.address);
        g_assert_cmpint(wanted.kind->resolve(&wanted, &facts, targets), ==, -ALD_E_NO_SUCH_ADDRESS);
        ald_results_free(results);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-paths/route-answer", test_route_answer);
        g_test_add_func("/link-probe-paths/route-of-our-own", test_route_of_our_own);
        g_test_add_func("/link-probe-paths/first-bytes", test_first_bytes);
        g_test_add_func("/link-probe-paths/deferrals", test_deferrals);
        g_test_add_func("/link-probe-paths/results", test_results);
        g_test_add_func("/link-probe-paths/scopes", test_scopes_take_turns);
        g_test_add_func("/link-probe-paths/request", test_request);
        return g_test_run();
}
