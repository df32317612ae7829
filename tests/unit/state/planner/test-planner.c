/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "state/planner/planner.h"
#include "state/planner/probe-load.h"
#include "state/results/link-result.h"
#include "tests/unit/planner-text.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define SECOND UINT64_C(1000000)
#define MINUTE (60 * SECOND)
#define DAY (24 * 60 * MINUTE)
#define NOW (1000000 * SECOND)
#define GIGABIT UINT64_C(1000000000)

static void put_network(AldStore *store, unsigned node, const char *rows)
{
        g_autofree char *text = g_strdup_printf("{'Interfaces': [%s]}", rows);

        state_put(store, node, ALD_KIND_NETWORK, text);
}

/* One interface, with an address of a net that all share. */
static void put_node(AldStore *store, unsigned node)
{
        g_autofree char *row = g_strdup_printf(
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.%u/24']}", node);

        put_network(store, node, row);
        state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
}

/* The row of one node about another; text is JSON without braces. */
static void put_row(AldStore *store, unsigned source, unsigned sink, const char *address, const char *text)
{
        g_autofree char *json = g_strdup_printf("{'SourceInterface': 'eth0'%s%s}", *text ? ", " : "", text);

        state_put_path(store, source, sink, address, json);
}

static unsigned last_byte(const AldId *id)
{
        return id->bytes[3];
}

static void check_at(AldStore *store, uint64_t now, const char *expected)
{
        const AldPlannerInput input = planner_input(now);

        planner_check(store, &input, expected);
}

/* Nodes 1, which is this one, and 2. */
static AldStore *make_pair(void)
{
        AldStore *store = state_make();

        put_node(store, 1);
        put_node(store, 2);
        return store;
}

static void put_result(AldStore *store, uint64_t measured)
{
        g_autofree char *text = g_strdup_printf("'MeasuredUSec': %" G_GUINT64_FORMAT, measured);

        put_row(store, 1, 2, "10.0.0.2", text);
}

static void test_reasons(void)
{
        g_autoptr(AldStore) store = make_pair();

        check_at(store, NOW, "2 10.0.0.2 eth0 never");
        put_result(store, NOW);
        check_at(store, NOW, "");
        check_at(store, NOW + 4 * MINUTE - 1, "");
        check_at(store, NOW + 6 * MINUTE, "2 10.0.0.2 eth0 expired");
        check_at(store, NOW - 1, "2 10.0.0.2 eth0 future");
        check_at(store, NOW + 1000 * 24 * 60 * MINUTE, "2 10.0.0.2 eth0 expired");
}

/* The same result again and again: how long it is valid after the last one. */
static uint64_t ttl_of_repeated(AldStore *store, const char *flags)
{
        g_autoptr(AldRecord) merged = NULL;

        for (unsigned i = 0; i < 5; i++) {
                const AldPlannerInput input = planner_input(NOW + i * 60 * MINUTE);
                g_autofree char *one = state_id(1), *two = state_id(2);
                const char *const list[] = { flags, NULL };
                AldLinkSocket row = ALD_LINK_SOCKET_INIT;
                g_autoptr(AldRecord) told = NULL, before = g_steal_pointer(&merged);
                AldTtlBounds bounds;

                row.source = one;
                row.sink = two;
                row.sink_address = "10.0.0.2";
                row.source_interface = "eth0";
                row.upload.bits_per_second = row.download.bits_per_second = 94000000;
                row.measured_usec = NOW + i * 60 * MINUTE;
                row.flags = flags ? list : NULL;
                told = record_make(ALD_KIND_LINK_SOCKET, &row);
                bounds = ald_planner_bounds(store, &input, told);
                merged = ald_link_result_merge(before, told, &bounds);
        }
        return ald_record_as(merged, LINK_SOCKET, AldLinkSocket)->time_to_live_usec;
}

/* The words for a disturbance last until the next measurement. */
static void test_disturbed_is_measured_soon(void)
{
        g_autoptr(AldStore) store = make_pair();

        g_assert_cmpuint(ttl_of_repeated(store, NULL), >, 30 * MINUTE);
        g_assert_cmpuint(ttl_of_repeated(store, "disturbed"), <=, 6 * MINUTE);
        g_assert_cmpuint(ttl_of_repeated(store, "disturbed"), >=, 4 * MINUTE);
}

static void put_failure(AldStore *store, uint64_t failed, unsigned failures, const char *more)
{
        g_autofree char *text = g_strdup_printf("'Failure': 'refused', 'FailedUSec': %" G_GUINT64_FORMAT
                                                ", 'Failures': %u%s",
                failed, failures, more);

        put_row(store, 1, 2, "10.0.0.2", text);
}

/* Round trips and spot checks repeat while the figures last. */
static void test_checks(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999990000000, 'RttMeasuredUSec': 1000000000000, 'TimeToLiveUSec': "
                "3600000000");
        check_at(store, NOW + 4 * MINUTE - 1, "");
        check_at(store, NOW + 5 * MINUTE, "2 10.0.0.2 eth0 expired check");
        check_at(store, NOW + 60 * MINUTE - 10 * SECOND, "2 10.0.0.2 eth0 expired");
        /* Of a path that was not measured yet, it is what may be measured at all. */
        put_row(store, 1, 2, "10.0.0.2", "'RttMeasuredUSec': 1000000000000");
        check_at(store, NOW, "2 10.0.0.2 eth0 never");
}

/* A check that contradicts the record is repeated within 30 s, for 3 min if it has no result. */
static void test_contradicted(void)
{
        static const char row[] = "'MeasuredUSec': 999990000000, 'RttMeasuredUSec': 1000000000000, "
                                  "'TimeToLiveUSec': 3600000000, 'ContradictedUSec': 1000000000000";
        g_autoptr(AldStore) store = make_pair();

        put_row(store, 1, 2, "10.0.0.2", row);
        check_at(store, NOW + 10 * SECOND - 1, "");
        check_at(store, NOW + 10 * SECOND, "2 10.0.0.2 eth0 changed check");
        check_at(store, NOW + 30 * SECOND, "2 10.0.0.2 eth0 changed check");
        check_at(store, NOW + 3 * MINUTE, "");
        check_at(store, NOW + 5 * MINUTE, "2 10.0.0.2 eth0 expired check");
        /* It is repeated where spot checks are rare because of what may be sent. */
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999990000000, 'RttMeasuredUSec': 1000000000000, 'TimeToLiveUSec': "
                "3600000000, "
                "'UploadBitsPerSecond': 1000000000, 'DownloadBitsPerSecond': 1000000000, 'ContradictedUSec': "
                "1000000000000, 'LastSpotUSec': 1000000000000");
        for (unsigned i = 0; i < 2; i++) {
                AldPlannerInput input = planner_input(NOW + (i == 0 ? 15 * SECOND : 5 * MINUTE));

                input.bytes_per_hour = 6000000;
                planner_check(store, &input,
                        i == 0 ? "2 10.0.0.2 eth0 changed check" : "2 10.0.0.2 eth0 expired round-trips");
        }
}

/* Spot checks go on of a path that awaits its measurement, or whose last one was of no use. */
static void test_changed_is_still_checked(void)
{
        static const char row[] =
                "'MeasuredUSec': 999990000000, 'RttMeasuredUSec': 1000000000000, "
                "'TimeToLiveUSec': 21600000000, 'Changed': '%s', 'ChangedUSec': 999999000000, "
                "'AttemptedUSec': 1000000000000";
        g_autoptr(AldStore) store = make_pair();
        g_autofree char *rate = g_strdup_printf(row, "rate"), *route = g_strdup_printf(row, "route");
        AldPlannerInput input = planner_input(NOW + 5 * MINUTE - SECOND);

        put_row(store, 1, 2, "10.0.0.2", rate);
        /* Soon after the change it is repeated after a minute. */
        check_at(store, NOW + MINUTE - 1, "");
        check_at(store, NOW + MINUTE, "2 10.0.0.2 eth0 changed");
        planner_check(store, &input, "2 10.0.0.2 eth0 expired check");
        /* Later it waits for 5 min, but still goes before others. */
        input.now_realtime += SECOND;
        planner_check(store, &input, "2 10.0.0.2 eth0 changed");
        /* Without figures a spot check says nothing. */
        put_row(store, 1, 2, "10.0.0.2", route);
        input.now_realtime -= SECOND;
        planner_check(store, &input, "2 10.0.0.2 eth0 expired round-trips");
}

static bool is_brief(AldStore *store, const AldPlannerInput *input)
{
        g_autoptr(GArray) probes = ald_planner_compute(store, input);

        g_assert_cmpuint(probes->len, ==, 1);
        return g_array_index(probes, AldDueProbe, 0).brief;
}

/* The first measurement after a change does not wait until the last one is paid off; what such ones take has
 * a limit of its own: 4 times 0.1 % of 1 Gb/s in both directions in an hour, of which one takes 375 MB. */
static void test_bytes_after_a_change(void)
{
        static const char row[] =
                "'MeasuredUSec': 999999000000, 'RttMeasuredUSec': 999999500000, "
                "'TimeToLiveUSec': 21600000000, 'Changed': 'rate', 'ChangedUSec': 999999500000, "
                "'AttemptedUSec': %s, 'ChangeBytes': %s, 'UploadBitsPerSecond': 1000000000, "
                "'DownloadBitsPerSecond': 1000000000";
        static const struct {
                const char *attempted, *bytes;
                bool due;
        } cases[] = { { "999999000000", "0", true }, { "999999000000", "3200000000", true },
                { "999999000000", "3250000000", false }, { "998999000000", "4200000000", true },
                { "998999000000", "4400000000", false } };
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW);

        input.bytes_per_hour = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf(row, cases[i].attempted, cases[i].bytes);

                put_row(store, 1, 2, "10.0.0.2", text);
                planner_check(store, &input, cases[i].due ? "2 10.0.0.2 eth0 changed" : "");
        }
        /* The same holds at the other end, for what others have measured there. */
        put_node(store, 3);
        put_row(store, 1, 3, "10.0.0.3", "'MeasuredUSec': 999999000000, 'TimeToLiveUSec': 21600000000");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *own = g_strdup_printf(row, "999999000000", "0");
                g_autofree char *other = g_strdup_printf(
                        "'MeasuredUSec': 999999000000, 'TimeToLiveUSec': "
                        "21600000000, 'AttemptedUSec': %s, 'ChangeBytes': %s, 'UploadBitsPerSecond': "
                        "1000000000, 'DownloadBitsPerSecond': 1000000000",
                        cases[i].attempted, cases[i].bytes);

                put_row(store, 1, 2, "10.0.0.2", own);
                put_row(store, 2, 3, "10.0.0.3", other);
                planner_check(store, &input, cases[i].due ? "2 10.0.0.2 eth0 changed" : "");
        }
}

/* A configured limit is one for all of them, in an hour. */
static void test_configured_limit_after_a_change(void)
{
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW);

        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999999000000, 'RttMeasuredUSec': 999999500000, 'TimeToLiveUSec': "
                "21600000000, "
                "'Changed': 'rate', 'ChangedUSec': 999999500000, 'AttemptedUSec': 999999000000, "
                "'UploadBitsPerSecond': 1000000000, 'DownloadBitsPerSecond': 1000000000");
        input.bytes_per_hour = UINT64_C(800000000);
        g_assert_true(is_brief(store, &input));
        input.bytes_per_hour = UINT64_C(700000000);
        planner_check(store, &input, "");
        input.now_realtime = NOW + 60 * MINUTE;
        g_assert_true(is_brief(store, &input));
}

/* What changed is measured as a whole at once. */
static void test_changed(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999990000000, 'RttMeasuredUSec': 999999000000, 'TimeToLiveUSec': "
                "3600000000, "
                "'Changed': 'rtt'");
        check_at(store, NOW, "2 10.0.0.2 eth0 changed");
}

/* The network record has a new speed before any check does, which then sees it. */
static void test_new_speed(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24'], "
                "'SpeedBitsPerSecond': 1000000000}");
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000000000000, 'TimeToLiveUSec': "
                "3600000000, "
                "'NegotiatedBitsPerSecond': 1000000000");
        check_at(store, NOW + MINUTE, "");
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24'], "
                "'SpeedBitsPerSecond': 100000000}");
        check_at(store, NOW + MINUTE, "2 10.0.0.2 eth0 changed check");
        /* Once that was said, the whole measurement is due. */
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000060000000, 'TimeToLiveUSec': "
                "3600000000, "
                "'NegotiatedBitsPerSecond': 1000000000, 'Changed': 'speed'");
        check_at(store, NOW + MINUTE, "2 10.0.0.2 eth0 changed");
}

/* What the port could do before is no reason to wait: it cannot transfer as much now. */
static void test_port_that_has_become_slow(void)
{
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW);

        input.bytes_per_hour = 0;
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24'], "
                "'SpeedBitsPerSecond': 100000000}");
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999999000000, 'RttMeasuredUSec': 999999500000, 'TimeToLiveUSec': "
                "3600000000, "
                "'NegotiatedBitsPerSecond': 2500000000, 'Changed': 'speed', 'ChangedUSec': 999999500000, "
                "'AttemptedUSec': 999999000000, 'UploadBitsPerSecond': 2350000000, "
                "'DownloadBitsPerSecond': 2350000000");
        planner_check(store, &input, "2 10.0.0.2 eth0 changed");
}

/* A bond has taken the address of the interface that the figures are of, which is gone. */
static void test_interface_is_gone(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000000000000, 'TimeToLiveUSec': "
                "3600000000");
        put_network(store, 1, "{'Id': 'bond0', 'Type': 'bond', 'Addresses': ['10.0.0.1/24']}");
        check_at(store, NOW + SECOND, "");
        check_at(store, NOW + MINUTE, "2 10.0.0.2 bond0 changed check");
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000060000000, 'TimeToLiveUSec': "
                "3600000000, 'Changed': 'route'");
        check_at(store, NOW + MINUTE, "2 10.0.0.2 bond0 changed");
}

static void check_despite_work(AldStore *store, uint64_t now, bool overdue)
{
        const AldPlannerInput input = planner_input(now);
        g_autoptr(GArray) probes = ald_planner_compute(store, &input);
        const AldDueProbe *probe = &g_array_index(probes, AldDueProbe, 0);

        g_assert_cmpuint(probes->len, ==, 1);
        g_assert_cmpint(probe->scope, ==, overdue ? ALD_LINK_SCOPE_FULL : ALD_LINK_SCOPE_ROUND_TRIPS);
        g_assert_cmpint(probe->despite_work, ==, overdue);
        g_assert_cmpint(probe->overdue, ==, overdue);
}

/* A first measurement waits for a day for work on the processors of either end; no other one is made beside
 * it, and none beside other work. */
static void test_first_beside_work(void)
{
        for (unsigned node = 1; node <= 2; node++) {
                g_autoptr(AldStore) store = make_pair();

                state_put(store, node, ALD_KIND_PROBE_POLICY,
                        "{'Starts': ['socket'], 'Links': 'round-trips', 'BusySinceUSec': 1000000000000}");
                check_despite_work(store, NOW + DAY - 1, false);
                check_despite_work(store, NOW + DAY, true);
                /* The clock was set back. */
                check_despite_work(store, NOW - 1, false);
                put_row(store, 1, 2, "10.0.0.2", "'RttMeasuredUSec': 1086400000000");
                check_despite_work(store, NOW + DAY, true);
                state_put(store, 3 - node, ALD_KIND_PROBE_POLICY,
                        "{'Starts': ['socket'], 'Links': 'round-trips'}");
                check_at(store, NOW + DAY, "");
                state_put(store, 3 - node, ALD_KIND_PROBE_POLICY,
                        "{'Starts': ['socket'], 'Links': 'round-trips', 'BusySinceUSec': 999000000000}");
                check_despite_work(store, NOW + DAY, true);
                state_put(store, node, ALD_KIND_PROBE_POLICY,
                        "{'Starts': ['socket'], 'Links': 'none', 'BusySinceUSec': 1000000000000}");
                check_at(store, NOW + DAY, "");
                state_put(store, node, ALD_KIND_PROBE_POLICY,
                        "{'Starts': ['socket'], 'Links': 'round-trips', 'BusySinceUSec': 1000000000000}");
                put_row(store, 1, 2, "10.0.0.2",
                        "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000000000000, "
                        "'UploadBitsPerSecond': 1000000000");
                check_despite_work(store, NOW + DAY, false);
        }
}

/* All that the other end, or the way to it, allows. */
static void test_round_trips_only(void)
{
        static const char *const metered[] = { "yes", "guess-yes" };
        g_autoptr(AldStore) store = make_pair();

        state_put(store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'round-trips'}");
        check_at(store, NOW, "2 10.0.0.2 eth0 never round-trips");
        put_row(store, 1, 2, "10.0.0.2", "'RttMeasuredUSec': 1000000000000");
        check_at(store, NOW, "");
        check_at(store, NOW + 5 * MINUTE, "2 10.0.0.2 eth0 expired round-trips");
        state_put(store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'none'}");
        check_at(store, NOW + 5 * MINUTE, "");
        state_put(store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'full'}");
        check_at(store, NOW, "2 10.0.0.2 eth0 never");
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'round-trips'}");
        check_at(store, NOW, "");
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'full'}");
        for (unsigned i = 0; i < G_N_ELEMENTS(metered); i++) {
                g_autofree char *row = g_strdup_printf(
                        "{'Id': 'eth0', 'Type': 'ethernet', 'Metered': '%s', 'Addresses': ['10.0.0.1/24']}",
                        metered[i]);

                put_network(store, 1, row);
                check_at(store, NOW + 5 * MINUTE, "2 10.0.0.2 eth0 expired round-trips");
        }
        put_network(store, 1, "{'Id': 'wg0', 'Type': 'tunnel', 'Addresses': ['10.0.0.1/24']}");
        check_at(store, NOW + 5 * MINUTE, "2 10.0.0.2 wg0 expired round-trips");
}

/* Several addresses over one pair of interfaces share what is measured at full rate. */
static void test_shared_interfaces(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24', '2001:db8::1/64']}");
        put_network(store, 2,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24', '2001:db8::2/64']}");
        check_at(store, NOW, "2 10.0.0.2 eth0 never");
        put_result(store, NOW);
        check_at(store, NOW, "2 2001:db8::2 eth0 never round-trips");
        put_row(store, 1, 2, "2001:db8::2", "'RttMeasuredUSec': 1000000000000");
        check_at(store, NOW, "");
        /* Where the first fails, the other one is measured. */
        put_failure(store, NOW, 1, "");
        check_at(store, NOW, "2 2001:db8::2 eth0 never");
}

/* The interval that is fixed is kept, whatever it takes. */
static void test_fixed_interval(void)
{
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW + 12 * MINUTE);

        input.bytes_per_hour = 0;
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'IntervalUSec': 600000000}");
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000000000000, 'TimeToLiveUSec': "
                "21600000000, "
                "'UploadBitsPerSecond': 1000000000, 'DownloadBitsPerSecond': 1000000000");
        planner_check(store, &input, "2 10.0.0.2 eth0 expired");
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket']}");
        planner_check(store, &input, "2 10.0.0.2 eth0 expired check");
}

/* Paths whose last figure was low are measured one after the other, by whichever nodes. */
static void test_low_paths_take_turns(void)
{
        static const char low[] = "'MeasuredUSec': 999000000000, 'RttMeasuredUSec': 999999000000, "
                                  "'TimeToLiveUSec': 21600000000, 'Changed': 'rate', "
                                  "'ChangedUSec': 999999000000";
        g_autoptr(AldStore) store = make_pair();
        unsigned turns[2] = { 0 };

        put_node(store, 3);
        put_row(store, 1, 2, "10.0.0.2", low);
        put_row(store, 2, 3, "10.0.0.3", low);
        put_row(store, 1, 3, "10.0.0.3", "'MeasuredUSec': 1000000000000, 'TimeToLiveUSec': 21600000000");
        for (unsigned i = 0; i < 60; i++) {
                AldPlannerInput input = planner_input(NOW + i * 2 * SECOND);
                g_autoptr(GArray) ours = ald_planner_compute(store, &input);
                bool due = ours->len > 0 && g_array_index(ours, AldDueProbe, 0).reason == ALD_DUE_CHANGED;

                turns[(NOW + i * 2 * SECOND) / ALD_PLANNER_TURN_USEC % 2] += due;
        }
        g_assert_cmpuint(MAX(turns[0], turns[1]), ==, 20);
        g_assert_cmpuint(MIN(turns[0], turns[1]), ==, 0);
}

/* Each of many has a turn of its own. */
static void test_many_low_paths(void)
{
        enum { PATHS = 20 };
        static const char low[] = "'MeasuredUSec': 999000000000, 'RttMeasuredUSec': 999999000000, "
                                  "'TimeToLiveUSec': 21600000000, 'Changed': 'rate'";
        g_autoptr(AldStore) store = make_pair();
        uint64_t cycle = PATHS * ALD_PLANNER_TURN_USEC, start = NOW + cycle - NOW % cycle;
        gboolean seen[PATHS + 2] = { FALSE };

        for (unsigned i = 2; i < PATHS + 2; i++) {
                g_autofree char *address = g_strdup_printf("10.0.0.%u", i);

                put_node(store, i);
                put_row(store, 1, i, address, low);
        }
        for (unsigned i = 0; i < PATHS; i++) {
                AldPlannerInput input = planner_input(start + i * ALD_PLANNER_TURN_USEC);
                unsigned due = 0;

                /* The one that comes first keeps others from the interface, so ask without it too. */
                for (unsigned node = 2; node < PATHS + 2; node++) {
                        AldId others[PATHS];
                        g_autoptr(GArray) probes = NULL;

                        input.n_avoid = 0;
                        for (unsigned other = 2; other < PATHS + 2; other++)
                                if (other != node)
                                        others[input.n_avoid++] = id_make(other);
                        input.avoid = others;
                        probes = ald_planner_compute(store, &input);
                        if (probes->len > 0 &&
                                g_array_index(probes, AldDueProbe, 0).reason == ALD_DUE_CHANGED) {
                                due++;
                                g_assert_false(seen[node]);
                                seen[node] = TRUE;
                        }
                }
                g_assert_cmpuint(due, ==, 1);
        }
}

/* How many turns of 30 s, of the first 60, are one of the path to node 2. */
static unsigned count_turns(AldStore *store)
{
        unsigned turns = 0;

        for (unsigned i = 0; i < 60; i++) {
                AldPlannerInput input = planner_input(
                        NOW + ALD_PLANNER_TURN_USEC - NOW % ALD_PLANNER_TURN_USEC);
                g_autoptr(GArray) probes = NULL;

                input.now_realtime += i * ALD_PLANNER_TURN_USEC;
                probes = ald_planner_compute(store, &input);
                turns += probes->len > 0 && g_array_index(probes, AldDueProbe, 0).reason == ALD_DUE_CHANGED;
        }
        return turns;
}

/* False rows of a member delay a changed path by some turns at the most. */
static void test_false_rows_take_few_turns(void)
{
        static const struct {
                unsigned source, sink;
                const char *changed;
                unsigned turns;
        } cases[] = {
                { 3, 9, "'ChangedUSec': 999999000000", 60 },     /* to nobody */
                { 3, 4, "'ChangedUSec': 999999000000", 60 },     /* between others */
                { 3, 1, "'AttemptedUSec': 1", 60 },              /* at any time */
                { 3, 1, "'ChangedUSec': 900000000000", 60 },     /* long ago */
                { 3, 1, "'ChangedUSec': 1099999000000", 60 },    /* in the future */
                { 3, 1, "'ChangedUSec': 999999000000", 60 / 5 }, /* to this node */
                { 3, 2, "'ChangedUSec': 999999000000", 60 / 5 }, /* to the peer */
                { 2, 9, "'ChangedUSec': 999999000000", 60 / 5 }, /* by the peer itself */
        };

        for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
                g_autoptr(AldStore) store = make_pair();
                g_autofree char *row = g_strdup_printf(
                        "'MeasuredUSec': 999000000000, 'Changed': 'rate', %s", cases[k].changed);

                put_node(store, 3);
                put_node(store, 4);
                put_row(store, 1, 2, "10.0.0.2",
                        "'MeasuredUSec': 999000000000, 'RttMeasuredUSec': 999999000000, 'TimeToLiveUSec': "
                        "21600000000, 'Changed': 'rate', 'ChangedUSec': 999999000000");
                for (unsigned node = 3; node <= 4; node++) {
                        g_autofree char *address = g_strdup_printf("10.0.0.%u", node);

                        put_row(store, 1, node, address,
                                "'MeasuredUSec': 1000000000000, 'RttMeasuredUSec': 1000000000000, "
                                "'TimeToLiveUSec': 21600000000");
                }
                for (unsigned i = 0; i < 100; i++) {
                        g_autofree char *address = g_strdup_printf("10.9.0.%u", i);

                        put_row(store, cases[k].source, cases[k].sink, address, row);
                }
                g_assert_cmpuint(count_turns(store), ==, cases[k].turns);
        }
}

static void test_failures_back_off(void)
{
        g_autoptr(AldStore) store = make_pair();
        uint64_t delay = MINUTE;

        for (unsigned failures = 1; failures < 70; failures++) {
                put_failure(store, NOW, failures, "");
                check_at(store, NOW + delay - delay / 4 - 1, "");
                check_at(store, NOW + delay, "2 10.0.0.2 eth0 failed");
                check_at(store, NOW - 1, "2 10.0.0.2 eth0 future");
                delay = MIN(2 * delay, 60 * MINUTE);
        }
        /* What a good result says of the time counts again after the next success only. */
        put_failure(store, NOW, 9, ", 'MeasuredUSec': 5");
        check_at(store, NOW + 10 * MINUTE, "");
        put_failure(store, NOW, 0, ", 'MeasuredUSec': 5");
        check_at(store, NOW + 10 * MINUTE, "2 10.0.0.2 eth0 expired");
        /* What failed while its figures are fresh is checked first. */
        put_failure(store, NOW, 1, ", 'MeasuredUSec': 999999000000, 'TimeToLiveUSec': 3600000000");
        check_at(store, NOW + 2 * MINUTE, "2 10.0.0.2 eth0 failed check");
}

/* A member may report addresses of hosts outside the cluster. */
static void test_routed_addresses_back_off_longer(void)
{
        g_autoptr(AldStore) store = make_pair();
        uint64_t delay = MINUTE;

        put_network(store, 2, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['192.0.2.2/24']}");
        for (unsigned failures = 1; failures < 70; failures++) {
                g_autofree char *text = g_strdup_printf(
                        "'Failure': 'refused', 'FailedUSec': 1000000000000, 'Failures': %u", failures);

                put_row(store, 1, 2, "192.0.2.2", text);
                check_at(store, NOW + delay - delay / 4 - 1, "");
                check_at(store, NOW + delay, "2 192.0.2.2 eth0 failed");
                delay = MIN(4 * delay, 6 * 60 * MINUTE);
        }
        /* One that has answered once is a peer. */
        put_row(store, 1, 2, "192.0.2.2",
                "'RttMeasuredUSec': 5, 'Failure': 'refused', 'FailedUSec': 1000000000000, 'Failures': 20");
        check_at(store, NOW + 60 * MINUTE, "2 192.0.2.2 eth0 failed");
}

static void test_back_off_spreads(void)
{
        const AldAttempts attempts = { ALD_ABSENT_UINT64, NOW, 20, false };
        unsigned due = 0;

        for (unsigned i = 0; i < 1000; i++) {
                AldId a = id_make(i + 1), b = id_make(5000 + i);
                uint64_t seed = ald_path_seed(&a, &b, "10.0.0.1");

                due += ald_attempts_state(&attempts, seed, MINUTE, NOW + 60 * MINUTE * 7 / 8).due;
                g_assert_cmpuint(seed, ==, ald_path_seed(&a, &b, "10.0.0.1"));
        }
        g_assert_cmpuint(due, >, 400);
        g_assert_cmpuint(due, <, 600);
}

static void test_who_is_probed(void)
{
        static const char *const states[] = { "stale", "offline", "duplicate" };
        g_autoptr(AldStore) store = make_pair();

        for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
                g_autofree char *text = g_strdup_printf("{'State': '%s'}", states[i]);

                state_put(store, 2, ALD_KIND_PRESENCE, text);
                check_at(store, NOW, "");
        }
        /* One without a Network record waits for it. */
        state_put(store, 3, ALD_KIND_PRESENCE, "{'State': 'online'}");
        check_at(store, NOW, "");
        put_node(store, 3);
        check_at(store, NOW, "3 10.0.0.3 eth0 never");
        ald_store_lose_presences(store, 1, 1);
        check_at(store, NOW, "");
}

static void test_own_network_unknown(void)
{
        g_autoptr(AldStore) store = state_make();

        put_node(store, 2);
        check_at(store, NOW, "");
}

/* Seen by the node with the higher id. */
static void test_lower_id_probes(void)
{
        g_autoptr(AldStore) store = state_make_of(2, 1);

        put_node(store, 1);
        put_node(store, 2);
        put_node(store, 3);
        check_at(store, NOW, "3 10.0.0.3 eth0 never");
        put_row(store, 2, 3, "10.0.0.3", "'MeasuredUSec': 1000000000000");
        check_at(store, NOW, "");

        /* What the lower one has tried in vain is left to the higher one, until it succeeds. */
        put_row(store, 1, 2, "10.0.0.2", "'Failure': 'timeout', 'FailedUSec': 5, 'Failures': 2");
        check_at(store, NOW, "");
        put_row(store, 1, 2, "10.0.0.2", "'Failure': 'timeout', 'FailedUSec': 5, 'Failures': 3");
        check_at(store, NOW, "1 10.0.0.1 eth0 never");
        put_row(store, 1, 2, "10.0.0.2", "'MeasuredUSec': 6");
        check_at(store, NOW, "");

        /* So are all paths where it starts no such probes, as a node with mirror=none does not; that a node
         * says nothing, or has no rows, tells nothing. */
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Links': 'full'}");
        check_at(store, NOW, "1 10.0.0.1 eth0 never");
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['rdma'], 'Links': 'full'}");
        check_at(store, NOW, "1 10.0.0.1 eth0 never");
        state_put(store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'full'}");
        check_at(store, NOW, "");
}

static void test_paths_the_first_lacks(void)
{
        g_autoptr(AldStore) store = state_make_of(2, 1);

        put_node(store, 1);
        put_node(store, 2);
        /* The lower one has a second interface, on which it has no path to us. */
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24']}, "
                "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['192.0.2.1/24']}");
        check_at(store, NOW, "1 192.0.2.1 eth0 never");
        /* With one it is for the lower one to measure. */
        put_network(store, 2,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24']}, "
                "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['192.0.2.2/24']}");
        check_at(store, NOW, "");
        /* Each path of it counts by itself. */
        put_row(store, 1, 2, "192.0.2.2", "'Failure': 'timeout', 'FailedUSec': 5, 'Failures': 3");
        check_at(store, NOW, "1 192.0.2.1 eth1 never");
        /* So do families. */
        put_network(store, 1, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['2001:db8::1/64']}");
        put_network(
                store, 2, "{'Id': 'b', 'Type': 'ethernet', 'Addresses': ['2001:db8::2/64', '10.0.0.2/24']}");
        check_at(store, NOW, "");
        put_network(
                store, 1, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['2001:db8::1/64', 'fe80::1/64']}");
        put_network(store, 2, "{'Id': 'b', 'Type': 'ethernet', 'Addresses': ['2001:db8::2/64']}");
        check_at(store, NOW, "");
}

/* All due; who else is left out waits for the next call. */
static void test_one_for_each_interface(void)
{
        g_autoptr(AldStore) store = make_pair();
        g_autoptr(GArray) probes = NULL;
        AldPlannerInput input = planner_input(NOW);

        put_node(store, 3);
        put_node(store, 4);
        probes = ald_planner_compute(store, &input);
        g_assert_cmpuint(probes->len, ==, 1);

        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24']}, "
                "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['10.1.0.1/24']}, "
                "{'Id': 'eth0.7', 'Type': 'vlan', 'Parent': 'eth0', 'Addresses': ['10.2.0.1/24']}");
        put_network(
                store, 2, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24', '10.1.0.2/24']}");
        put_network(store, 3, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.2.0.3/24']}");
        put_network(store, 4, "{'Id': 'eth0', 'Type': 'ethernet'}");
        /* Never two to one peer, nor two through one interface, vlan or not. */
        for (unsigned i = 0; i < 2; i++) {
                g_autoptr(GArray) found = ald_planner_compute(store, &input);
                const AldDueProbe *first = &g_array_index(found, AldDueProbe, 0);

                g_assert_cmpuint(found->len, <=, 2);
                if (found->len == 2)
                        g_assert_false(ald_id_equal(&first->peer, &first[1].peer));
        }
        put_row(store, 1, 2, "10.0.0.2", "'MeasuredUSec': 1000000000000");
        check_at(store, NOW + MINUTE, "2 10.1.0.2 eth1 never, 3 10.2.0.3 eth0.7 never");
        input.max = 1;
        planner_check(store, &input, "2 10.1.0.2 eth1 never");
}

static void test_unknown_interface_goes_alone(void)
{
        g_autoptr(AldStore) store = state_make();

        put_node(store, 2);
        put_node(store, 3);
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24']}, "
                "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['10.1.0.1/24']}");
        put_network(store, 3, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['192.0.2.3/24']}");
        put_row(store, 1, 2, "10.0.0.2", "'MeasuredUSec': 10");
        check_at(store, NOW, "3 192.0.2.3 ? never");
        /* Once a route was seen, it is known. */
        put_row(store, 1, 3, "192.0.2.3", "'MeasuredUSec': 9");
        check_at(store, NOW, "3 192.0.2.3 eth0 expired");
        put_network(store, 2, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.1.0.2/24']}");
        check_at(store, NOW, "2 10.1.0.2 eth1 never, 3 192.0.2.3 eth0 expired");
}

static void test_the_oldest_comes_first(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_node(store, 3);
        put_row(store, 1, 2, "10.0.0.2", "'MeasuredUSec': 2000000000");
        put_row(store, 1, 3, "10.0.0.3", "'MeasuredUSec': 1000000000");
        check_at(store, NOW, "3 10.0.0.3 eth0 expired");
        put_row(store, 1, 2, "10.0.0.2", "'MeasuredUSec': 9");
        check_at(store, NOW, "2 10.0.0.2 eth0 expired");
        put_node(store, 4);
        check_at(store, NOW, "4 10.0.0.4 eth0 never");
}

/* A peer may leave it out of its rows; their keys have it. */
static void test_row_without_address(void)
{
        g_autoptr(AldStore) store = make_pair();

        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 1, 1, "{'MeasuredUSec': 1}");
        check_at(store, NOW, "2 10.0.0.2 eth0 never");
}

/* Two rows whose round trips are fresh and whose rates have expired, one after the other. */
#define EXPIRED_ROW(measured)                                                                            \
        "'MeasuredUSec': " measured ", 'RttMeasuredUSec': 1000000000000, 'TimeToLiveUSec': 1000000000, " \
        "'UploadBitsPerSecond': 1000"
#define EXPIRED_FIRST EXPIRED_ROW("998500000000")
#define EXPIRED_LATER EXPIRED_ROW("998900000000")

/* What is due earlier, but may not be measured at full rate now, keeps nothing waiting. */
static void test_no_turn_for_what_may_not_be_loaded(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_node(store, 3);
        put_row(store, 1, 2, "10.0.0.2", EXPIRED_FIRST);
        put_row(store, 1, 3, "10.0.0.3", EXPIRED_LATER);
        check_at(store, NOW, "2 10.0.0.2 eth0 expired");
        state_put(store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'round-trips'}");
        check_at(store, NOW, "3 10.0.0.3 eth0 expired");
        state_put(store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'none'}");
        check_at(store, NOW, "3 10.0.0.3 eth0 expired");
        state_put(store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'full'}");
        put_network(store, 2,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Metered': 'yes', 'Addresses': ['10.0.0.2/24']}");
        check_at(store, NOW, "3 10.0.0.3 eth0 expired");
        put_network(store, 2, "{'Id': 'wg0', 'Type': 'tunnel', 'Addresses': ['10.0.0.2/24']}");
        check_at(store, NOW, "3 10.0.0.3 eth0 expired");
        put_network(store, 2,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': false, 'Addresses': "
                "['10.0.0.2/24']}");
        check_at(store, NOW, "3 10.0.0.3 eth0 expired");
        /* Nor does one between others that ends at the same interface as the one that is due. */
        put_node(store, 2);
        put_row(store, 1, 2, "10.0.0.2", EXPIRED_LATER);
        put_row(store, 2, 3, "10.0.0.3", EXPIRED_FIRST);
        put_row(store, 1, 3, "10.0.0.3", "'MeasuredUSec': 1000000000000, 'TimeToLiveUSec': 1000000000");
        check_at(store, NOW, "");
        state_put(store, 3, ALD_KIND_PROBE_POLICY, "{'Starts': ['socket'], 'Links': 'round-trips'}");
        check_at(store, NOW, "2 10.0.0.2 eth0 expired");
}

/* A peer that puts its path off each time keeps no other one waiting for as long as that takes. */
static void test_no_turn_for_deferred_paths(void)
{
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW);
        char id[ALD_ID_STRING_SIZE];
        const AldId peer = id_make(2);
        g_autofree char *key = g_strdup_printf("%s,10.0.0.2", ald_id_format(&peer, id));
        const char *const paths[] = { key };

        put_node(store, 3);
        put_row(store, 1, 2, "10.0.0.2", EXPIRED_FIRST);
        put_row(store, 1, 3, "10.0.0.3", EXPIRED_LATER);
        planner_check(store, &input, "2 10.0.0.2 eth0 expired");
        input.deferred_paths = paths;
        input.n_deferred_paths = G_N_ELEMENTS(paths);
        planner_check(store, &input, "3 10.0.0.3 eth0 expired");
}

/* So it is with another address over interfaces that a path was measured over since. */
static void test_no_turn_for_a_shared_path(void)
{
        static const char dual[] = "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.%u/24', "
                                   "'2001:db8::%u/64']}";
        g_autoptr(AldStore) store = make_pair();
        g_autofree char *one = g_strdup_printf(dual, 1, 1);
        g_autofree char *two = g_strdup_printf(dual, 2, 2);

        put_network(store, 1, one);
        put_network(store, 2, two);
        put_row(store, 1, 2, "2001:db8::2", EXPIRED_FIRST);
        put_row(store, 1, 2, "10.0.0.2", EXPIRED_LATER);
        check_at(store, NOW, "2 10.0.0.2 eth0 expired");
}

/* Each peer has one path measured before any has its link-local one measured. */
static void test_link_local_comes_last(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldPlannerInput input = planner_input(NOW);

        for (unsigned node = 1; node <= 6; node++) {
                g_autofree char *row = g_strdup_printf("{'Id': 'eth0', 'Type': 'ethernet', "
                                                       "'Addresses': ['10.0.0.%u/24', 'fe80::%u/64']}",
                        node, node);

                put_node(store, node);
                put_network(store, node, row);
        }
        for (unsigned i = 0; i < 10; i++) {
                g_autoptr(GArray) probes = ald_planner_compute(store, &input);
                const AldDueProbe *probe = &g_array_index(probes, AldDueProbe, 0);

                g_assert_cmpuint(probes->len, ==, 1);
                g_assert_true(g_str_has_prefix(probe->address, i < 5 ? "10.0.0." : "fe80::"));
                put_row(store, 1, last_byte(&probe->peer), probe->address, "'MeasuredUSec': 1000000000000");
        }
        planner_check(store, &input, "");
}

static void test_avoid(void)
{
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW);
        const AldId avoid[] = { id_make(9), id_make(2) };

        input.avoid = avoid;
        input.n_avoid = 1;
        planner_check(store, &input, "2 10.0.0.2 eth0 never");
        input.n_avoid = 2;
        planner_check(store, &input, "");
}

static void check_traffic(AldStore *store, const char *interface, uint64_t rate, bool due)
{
        const AldPlannerTraffic traffic[] = { { "other", UINT64_MAX }, { interface, rate } };
        AldPlannerInput input = planner_input(NOW);

        input.traffic = traffic;
        input.n_traffic = G_N_ELEMENTS(traffic);
        planner_check(store, &input, due ? "2 10.0.0.2 eth0 expired" : "");
}

static void test_a_busy_interface_is_left_alone(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_row(store, 1, 2, "10.0.0.2", "'MeasuredUSec': 999999999000, 'TimeToLiveUSec': 600");
        /* Nothing is known of its speed: nothing says that it is busy. */
        check_traffic(store, "eth0", 100 * GIGABIT, true);
        check_traffic(store, "eth0", ALD_TRAFFIC_BLOCKED, false);
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999999999000, 'TimeToLiveUSec': 600, "
                "'UploadBitsPerSecond': 500, 'DownloadBitsPerSecond': 1000");
        check_traffic(store, "eth0", 100, true);
        check_traffic(store, "eth0", 101, false);
        check_traffic(store, "eth1", 101, true);
        /* What the path carried counts where the port is faster: there is a modem behind it. */
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24'], 'SpeedBitsPerSecond': "
                "5000}");
        check_traffic(store, "eth0", 100, true);
        check_traffic(store, "eth0", 101, false);
        /* The speed counts where it is lower, such as one negotiated since. */
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24'], 'SpeedBitsPerSecond': "
                "500}");
        check_traffic(store, "eth0", 50, true);
        check_traffic(store, "eth0", 51, false);
        /* What lies below counts too. */
        put_network(store, 1,
                "{'Id': 'eth0', 'Type': 'vlan', 'Parent': 'port', 'Addresses': ['10.0.0.1/24']}, "
                "{'Id': 'port', 'Type': 'ethernet', 'SpeedBitsPerSecond': 5000}");
        check_traffic(store, "port", 101, false);
        /* Figures so old that disturbed ones are better are measured in spite of it, unless a probe runs. */
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999999998000, 'TimeToLiveUSec': 600, "
                "'UploadBitsPerSecond': 500, 'DownloadBitsPerSecond': 1000");
        check_traffic(store, "port", 101, true);
        check_traffic(store, "port", ALD_TRAFFIC_BLOCKED, false);
}

/* 1 Gb/s both ways is 375 MB a probe; the one before is paid off first. */
static void test_bytes_per_hour(void)
{
        g_autoptr(AldStore) store = make_pair();
        AldPlannerInput input = planner_input(NOW);

        put_node(store, 3);
        put_row(store, 1, 2, "10.0.0.2",
                "'MeasuredUSec': 999999000000, 'UploadBitsPerSecond': 1000000000, "
                "'DownloadBitsPerSecond': 1000000000");
        put_row(store, 1, 3, "10.0.0.3",
                "'MeasuredUSec': 1, 'RttMeasuredUSec': 1000000000000, 'UploadBitsPerSecond': 1000000000, "
                "'TimeToLiveUSec': 1");
        input.bytes_per_hour = UINT64_C(750000000);
        planner_check(store, &input, "");
        input.now_realtime = NOW + 29 * MINUTE;
        planner_check(store, &input, "2 10.0.0.2 eth0 expired check");
        /* Of what may be sent spot checks take 150 MB. */
        input.now_realtime = NOW + 40 * MINUTE;
        planner_check(store, &input, "3 10.0.0.3 eth0 expired");
        /* What was never measured waits for nothing. */
        input.now_realtime = NOW;
        put_node(store, 4);
        planner_check(store, &input, "4 10.0.0.4 eth0 never");
}

/* A line of which all know what it carries; two paths go over it. */
static void check_share(const AldLoad *load, uint64_t speed, uint64_t bytes, uint64_t interval,
        double expected, uint64_t spot_interval)
{
        const AldInterface interface = { .speed_bits_per_second = speed };
        const AldShare share = ald_load_share(load, &interface, bytes, interval);

        g_assert_true(share.bytes_per_hour == expected);
        g_assert_cmpuint(share.spot_interval, ==, spot_interval);
}

static void test_shares(void)
{
        const AldLoad idle = { 0 }, slow = { .rate = GIGABIT / 20 };
        const AldLoad many = { .rate = GIGABIT, .spots_bytes = 60000000, .paths_bytes = 7500000000 };
        const AldInterface interface = { .speed_bits_per_second = GIGABIT };
        AldShare share;

        check_share(&idle, GIGABIT, 0, 0, 900e6, 5 * MINUTE);
        check_share(&idle, 10 * GIGABIT, 0, 0, 9e9, 5 * MINUTE);
        check_share(&slow, GIGABIT, 0, 0, 45e6, 5 * MINUTE);
        check_share(&idle, ALD_ABSENT_UINT64, 0, 0, INFINITY, 5 * MINUTE);
        check_share(&idle, GIGABIT, 5000, 0, 5000, 5 * MINUTE);
        check_share(&idle, GIGABIT, 0, MINUTE, INFINITY, 5 * MINUTE);
        check_share(&idle, GIGABIT, 5000, MINUTE, 5000, 5 * MINUTE);
        /* Spot checks take half of it at the most. */
        check_share(&many, GIGABIT, 0, 0, 900e6, 8 * MINUTE);
        share = ald_load_share(&many, &interface, 0, 0);
        g_assert_true(share.whole_bytes_per_hour == 450e6);
        g_assert_cmpuint(share.least_interval, ==,
                (uint64_t) (7500.0 / 450 * ALD_PLANNER_STRETCH * 60 * (double) MINUTE));
}

static void test_bytes_of_an_unknown_link(void)
{
        static const AldInterface fast = { .speed_bits_per_second = 10 * GIGABIT };
        static const AldInterface slow = { .speed_bits_per_second = GIGABIT };
        static const AldLoad load = { .rate = GIGABIT / 2 };
        static const AldInterface unknown = { .speed_bits_per_second = ALD_ABSENT_UINT64 };

        g_assert_cmpuint(ald_path_probe_bytes(NULL, &fast, &slow, NULL), ==, 375000000);
        g_assert_cmpuint(ald_path_probe_bytes(NULL, &fast, &unknown, NULL), ==, 3750000000);
        g_assert_cmpuint(ald_path_probe_bytes(NULL, &fast, &slow, &load), ==, 187500000);
        g_assert_cmpuint(ald_path_probe_bytes(NULL, NULL, &unknown, NULL), ==, 0);
        g_assert_cmpuint(ald_path_probe_bytes(NULL, &unknown, &unknown, &load), ==, 187500000);
}

/* The load of the interface of a node, as this node sees it with nodes 2 to 4 as its peers. */
static AldLoad load_at(AldStore *store, unsigned node, uint64_t *ret_capacity)
{
        const AldPlannerInput input = planner_input(NOW);
        const AldNetwork *network = state_network(store, node);
        const AldInterface *interface = ald_rows_find(&network->interfaces, "eth0");
        g_autoptr(GPtrArray) peers = g_ptr_array_new();
        g_autoptr(GHashTable) deferred = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(AldLoads) loads = NULL;
        AldId id = id_make(node);
        AldLoad load;

        for (unsigned peer = 2; peer <= 4; peer++) {
                AldId other = id_make(peer);

                g_ptr_array_add(peers, ald_store_find_node(store, &other));
        }
        loads = ald_loads_new(store, peers, &input, deferred);
        load = *ald_loads_find(loads, ald_store_find_node(store, &id), interface);
        *ret_capacity = ald_load_capacity(&load, interface);
        return load;
}

static void check_load(AldStore *store, unsigned node, uint64_t capacity, uint64_t bytes)
{
        uint64_t found;

        g_assert_cmpuint(load_at(store, node, &found).bytes, ==, bytes);
        g_assert_cmpuint(found, ==, capacity);
}

/* A single node is not believed to reach an interface of unknown speed faster than this node does. */
static void test_rates_of_others(void)
{
        static const char rates[] = "'MeasuredUSec': 999999000000, 'UploadBitsPerSecond': %s, "
                                    "'DownloadBitsPerSecond': %s";
        g_autofree char *own = g_strdup_printf(rates, "1000000000", "1000000000");
        g_autofree char *twice = g_strdup_printf(rates, "2000000000", "2000000000");
        g_autofree char *most = g_strdup_printf(rates, "9007199254740991", "9007199254740991");
        g_autoptr(AldStore) store = make_pair();

        put_node(store, 3);
        put_node(store, 4);
        put_row(store, 1, 2, "10.0.0.2", own);
        put_row(store, 3, 1, "10.0.0.1", most);
        put_row(store, 3, 2, "10.0.0.2", most);
        put_row(store, 3, 2, "10.0.0.22", most);
        /* Its measurement counts as one at the rate of this node. */
        check_load(store, 1, GIGABIT, 2 * UINT64_C(375000000));
        check_load(store, 2, GIGABIT, 2 * UINT64_C(375000000));
        /* Two may be faster than this node. */
        put_row(store, 4, 2, "10.0.0.2", twice);
        check_load(store, 2, 2 * GIGABIT, UINT64_C(375000000) + 2 * UINT64_C(750000000));
        /* Nothing exceeds a known speed. */
        put_network(store, 2,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24'], "
                "'SpeedBitsPerSecond': 5000000000}");
        check_load(store, 2, 5 * GIGABIT,
                UINT64_C(375000000) + UINT64_C(750000000) + UINT64_C(3377699720527871));
}

/* Their sum would be 2^53 modulo 2^64. */
static void test_bytes_do_not_overflow(void)
{
        g_autoptr(AldStore) store = make_pair();
        uint64_t capacity;

        put_node(store, 3);
        put_node(store, 4);
        for (unsigned i = 0; i < 2049; i++) {
                g_autofree char *address = g_strdup_printf("10.9.%u.%u", i / 250, i % 250);

                put_row(store, 3, 2, address,
                        "'AttemptedUSec': 1000000000000, 'ChangeBytes': 9007199254740991");
        }
        g_assert_cmpuint(load_at(store, 3, &capacity).change_bytes, ==, UINT64_MAX);
}

static void check_obsolete(AldStore *store, uint64_t now, const char *expected)
{
        g_autoptr(GPtrArray) entries = ald_planner_obsolete(store, now, 60 * MINUTE);
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < entries->len; i++)
                g_string_append_printf(
                        text, "%s ", strchr(((const AldEntry *) entries->pdata[i])->key, ',') + 1);
        g_assert_cmpstr(text->str, ==, expected);
}

static void test_rows_that_lead_nowhere(void)
{
        g_autoptr(AldStore) store = make_pair();

        put_row(store, 1, 2, "10.0.0.2", "");
        put_row(store, 1, 2, "10.0.0.20", "");
        put_row(store, 1, 2, "10.0.0.3", "");
        put_row(store, 1, 7, "10.0.0.7", "");
        put_row(store, 2, 1, "10.0.0.9", ""); /* of another node: for that one to delete */
        check_obsolete(store, 0, "10.0.0.20 10.0.0.3 ");
        /* Offline is no reason, nor is an address that has no carrier now. */
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        put_network(store, 2, "{'Id': 'eth0', 'Carrier': false, 'Addresses': ['10.0.0.2/24', '10.0.0.3/8']}");
        check_obsolete(store, 0, "10.0.0.20 ");
        /* Of node 7 nothing was heard, maybe because we have just started. */
        check_obsolete(store, 60 * MINUTE, "10.0.0.20 ");
        check_obsolete(store, 60 * MINUTE + 1, "10.0.0.20 10.0.0.7 ");
}

static void test_the_oldest_rows_make_room(void)
{
        enum { MORE = 3 };
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) entries = NULL;

        for (unsigned i = 0; i < ALD_PLANNER_ROWS_MAX + MORE; i++) {
                g_autofree char *address = g_strdup_printf("10.0.%u.%u", i / 250, i % 250);
                g_autofree char *text = g_strdup_printf("'%s': %u", i % 2 ? "MeasuredUSec" : "FailedUSec", i);

                put_row(store, 1, 2, address, text);
        }
        entries = ald_planner_obsolete(store, 0, 60 * MINUTE);
        g_assert_cmpuint(entries->len, ==, MORE);
        for (unsigned i = 0; i < MORE; i++) {
                const char *key = ((const AldEntry *) entries->pdata[i])->key;
                g_autofree char *address = g_strdup_printf(",10.0.0.%u", MORE - 1 - i);

                g_assert_true(g_str_has_suffix(key, address));
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/planner/reasons", test_reasons);
        g_test_add_func("/planner/checks", test_checks);
        g_test_add_func("/planner/disturbed-is-measured-soon", test_disturbed_is_measured_soon);
        g_test_add_func("/planner/contradicted", test_contradicted);
        g_test_add_func("/planner/changed-checked", test_changed_is_still_checked);
        g_test_add_func("/planner/bytes-changed", test_bytes_after_a_change);
        g_test_add_func("/planner/bytes-configured", test_configured_limit_after_a_change);
        g_test_add_func("/planner/changed", test_changed);
        g_test_add_func("/planner/new-speed", test_new_speed);
        g_test_add_func("/planner/port-that-has-become-slow", test_port_that_has_become_slow);
        g_test_add_func("/planner/interface-is-gone", test_interface_is_gone);
        g_test_add_func("/planner/round-trips-only", test_round_trips_only);
        g_test_add_func("/planner/first-beside-work", test_first_beside_work);
        g_test_add_func("/planner/shared-interfaces", test_shared_interfaces);
        g_test_add_func("/planner/fixed-interval", test_fixed_interval);
        g_test_add_func("/planner/low-paths", test_low_paths_take_turns);
        g_test_add_func("/planner/many-low-paths", test_many_low_paths);
        g_test_add_func("/planner/false-turns", test_false_rows_take_few_turns);
        g_test_add_func("/planner/back-off", test_failures_back_off);
        g_test_add_func("/planner/back-off-routed", test_routed_addresses_back_off_longer);
        g_test_add_func("/planner/back-off-spreads", test_back_off_spreads);
        g_test_add_func("/planner/who", test_who_is_probed);
        g_test_add_func("/planner/own-network", test_own_network_unknown);
        g_test_add_func("/planner/lower-id", test_lower_id_probes);
        g_test_add_func("/planner/first-lacks", test_paths_the_first_lacks);
        g_test_add_func("/planner/one-for-each", test_one_for_each_interface);
        g_test_add_func("/planner/unknown-interface", test_unknown_interface_goes_alone);
        g_test_add_func("/planner/oldest-first", test_the_oldest_comes_first);
        g_test_add_func("/planner/no-turn", test_no_turn_for_what_may_not_be_loaded);
        g_test_add_func("/planner/row-without-address", test_row_without_address);
        g_test_add_func("/planner/no-turn-shared", test_no_turn_for_a_shared_path);
        g_test_add_func("/planner/no-turn-when-deferred", test_no_turn_for_deferred_paths);
        g_test_add_func("/planner/link-local", test_link_local_comes_last);
        g_test_add_func("/planner/avoid", test_avoid);
        g_test_add_func("/planner/busy", test_a_busy_interface_is_left_alone);
        g_test_add_func("/planner/bytes", test_bytes_per_hour);
        g_test_add_func("/planner/shares", test_shares);
        g_test_add_func("/planner/bytes-unknown", test_bytes_of_an_unknown_link);
        g_test_add_func("/planner/rates-of-others", test_rates_of_others);
        g_test_add_func("/planner/bytes-overflow", test_bytes_do_not_overflow);
        g_test_add_func("/planner/obsolete", test_rows_that_lead_nowhere);
        g_test_add_func("/planner/oldest-rows", test_the_oldest_rows_make_room);
        return g_test_run();
}
