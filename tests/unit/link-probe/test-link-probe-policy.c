/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/link/policy.h"
#include "services/link-probe/machine/power.h"
#include "services/link-probe/machine/probe-hours.h"
#include "tests/unit/fake-root.h"

#define SECOND UINT64_C(1000000)

static void check_policy(
        const AldPolicyInput *input, const char *starts, const char *links, const char *reason)
{
        g_auto(AldPolicy) policy;
        g_autofree char *joined = NULL;

        ald_policy_init(&policy, input);
        joined = g_strjoinv(" ", (char **) policy.fields.starts);
        g_assert_cmpstr(joined, ==, starts);
        g_assert_cmpstr(policy.fields.links, ==, links);
        g_assert_cmpstr(policy.fields.reason, ==, reason);
        g_assert_cmpint(ald_policy_is_full(&policy), ==, g_str_equal(links, "full"));
}

static void test_policy(void)
{
        AldPolicyInput input = { .enabled = true, .hears_peers = true, .rdma = true };

        check_policy(&input, "socket rdma", "full", NULL);
        input.rdma = false;
        check_policy(&input, "socket", "full", NULL);
        input.outside_hours = true;
        check_policy(&input, "socket", "round-trips", "hours: outside probe-hours=");
        input.resumed = true;
        check_policy(&input, "socket", "round-trips", "resumed");
        input.battery = true;
        check_policy(&input, "socket", "round-trips", "battery");
        input.work = "llama-server.service is active";
        check_policy(&input, "socket", "round-trips", "work: llama-server.service is active");
        /* A node that does not hear its peers can still be measured by them. */
        input.hears_peers = false;
        check_policy(&input, "", "round-trips", "work: llama-server.service is active");
        input.lock = "trainer: epoch 7";
        check_policy(&input, "", "none", "inhibited: trainer: epoch 7");
        input.hears_peers = true;
        input.problem = "no certificates";
        check_policy(&input, "", "none", "unable: no certificates");
        input.enabled = false;
        check_policy(&input, "", "none", "disabled");
}

static uint64_t busy_since(const AldPolicyInput *input)
{
        g_auto(AldPolicy) policy;

        ald_policy_init(&policy, input);
        return policy.fields.busy_since_usec;
}

/* Only if first measurements need not wait for anything else. */
static void test_busy_since(void)
{
        AldPolicyInput input = {
                .enabled = true, .work = "a.service uses 62 % of the processors", .busy_since_usec = 7
        };

        g_assert_cmpuint(busy_since(&input), ==, 7);
        input.battery = true;
        g_assert_cmpuint(busy_since(&input), ==, ALD_ABSENT_UINT64);
        input.battery = false;
        input.outside_hours = true;
        g_assert_cmpuint(busy_since(&input), ==, ALD_ABSENT_UINT64);
        input.outside_hours = false;
        input.lock = "trainer: epoch 7";
        g_assert_cmpuint(busy_since(&input), ==, ALD_ABSENT_UINT64);
}

static void check_hours(const char *text, unsigned minute, bool inside)
{
        g_auto(GStrv) list = g_strsplit(text, ";", -1);
        AldProbeHours hours;

        g_assert_null(ald_probe_hours_refuse(text));
        g_assert_cmpint(ald_probe_hours_parse((const char *const *) list, &hours), ==, 0);
        g_assert_cmpint(ald_probe_hours_contain(&hours, minute), ==, inside);
}

static void test_hours(void)
{
        for (unsigned minute = 0; minute < 24 * 60; minute++)
                g_assert_false(ald_probe_hours_contain(&ALD_PROBE_HOURS_NEVER, minute));
        static const char *const bad[] = { "22", "22:00", "22:00-", "9:00-10:00", "22:00-25:00",
                "10:60-11:00", "24:00-06:00", "08:00-08:00", "08:00-24:01", "08:00-09:00,10:00-11:00",
                "08:00-09:00x", "-08:00-09:00" };

        check_hours("", 0, true);
        check_hours(" ; ", 700, true);
        check_hours("22:00-06:00", 22 * 60, true);
        check_hours("22:00-06:00", 22 * 60 - 1, false);
        check_hours("22:00-06:00", 0, true);
        check_hours("22:00-06:00", 6 * 60 - 1, true);
        check_hours("22:00-06:00", 6 * 60, false);
        check_hours("22:00-06:00; 12:00-13:00 ", 12 * 60 + 59, true);
        check_hours("22:00-06:00; 12:00-13:00 ", 13 * 60, false);
        check_hours("00:00-24:00", 24 * 60 - 1, true);
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_nonnull(ald_probe_hours_refuse(bad[i]));
}

static void test_too_many_hours(void)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (unsigned i = 0; i < ALD_PROBE_HOURS_MAX; i++)
                g_string_append_printf(text, "%02u:00-%02u:30;", i, i);
        g_assert_null(ald_probe_hours_refuse(text->str));
        g_string_append(text, "23:00-23:30");
        g_assert_cmpstr(ald_probe_hours_refuse(text->str), ==, "more than 16 ranges");
}

static void test_battery(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        g_assert_false(ald_power_read_battery(root->fd));
        /* That of a mouse is none of the machine. */
        fake_root_write_all(root, "sys/class/power_supply/mouse/type", "Battery\n",
                "sys/class/power_supply/mouse/scope", "Device\n", "sys/class/power_supply/mouse/status",
                "Discharging\n", NULL);
        g_assert_false(ald_power_read_battery(root->fd));
        fake_root_write_all(root, "sys/class/power_supply/BAT0/type", "Battery\n",
                "sys/class/power_supply/BAT0/status", "Discharging\n", NULL);
        g_assert_true(ald_power_read_battery(root->fd));
        fake_root_write_all(root, "sys/class/power_supply/AC/type", "Mains\n",
                "sys/class/power_supply/AC/online", "1\n", NULL);
        g_assert_false(ald_power_read_battery(root->fd));
        fake_root_write(root, "sys/class/power_supply/AC/online", "0\n");
        g_assert_true(ald_power_read_battery(root->fd));
        fake_root_write(root, "sys/class/power_supply/BAT0/status", "Full\n");
        g_assert_false(ald_power_read_battery(root->fd));
}

static void test_resume(void)
{
        AldResume resume = { 0 };

        /* What it slept before the service began is no matter. */
        g_assert_false(ald_resume_note(&resume, 5000 * SECOND, 1000 * SECOND));
        g_assert_false(ald_resume_note(&resume, 5015 * SECOND + 300, 1015 * SECOND));
        g_assert_true(ald_resume_note(&resume, 6000 * SECOND, 1016 * SECOND));
        g_assert_true(ald_resume_note(&resume, 6119 * SECOND, 1135 * SECOND));
        g_assert_false(ald_resume_note(&resume, 6120 * SECOND, 1136 * SECOND));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-policy/policy", test_policy);
        g_test_add_func("/link-probe-policy/busy-since", test_busy_since);
        g_test_add_func("/link-probe-policy/hours", test_hours);
        g_test_add_func("/link-probe-policy/too-many-hours", test_too_many_hours);
        g_test_add_func("/link-probe-policy/battery", test_battery);
        g_test_add_func("/link-probe-policy/resume", test_resume);
        return g_test_run();
}
