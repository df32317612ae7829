/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/field.h"
#include "record/message.h"
#include "services/witness/process-facts.h"
#include "tests/unit/fake-root.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_control_groups(void)
{
        static const char *const groups[][2] = {
                { "0::/system.slice/ollama.service\n", "/system.slice/ollama.service" },
                { "12:cpu,cpuacct:/x\n1:name=systemd:/user.slice\n0::/\n", "/user.slice" },
                { "12:memory:/x\n1:name=systemd:/old.slice\n0::/system.slice/a.service\n",
                        "/system.slice/a.service" },
                { "1:name=systemd:/old.slice\n", "/old.slice" },
                { "0::/\n", "/" },
                { "0::/docker/" ID "\n", "/docker/" ID },
                { "0::/a\tb\x1b[31m\n", "/a b [31m" },
                { "0::/\xff\xfe\n", "/\xef\xbf\xbd\xef\xbf\xbd" },
                { "12:memory:/x\n", NULL },
                { "0::relative\n", NULL },
                { "", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
                g_autofree char *path = ald_parse_control_group(groups[i][0]);

                g_assert_cmpstr(path, ==, groups[i][1]);
        }
}

/* The slice at its beginning and the container at its end say what it is. */
static void test_long_control_group(void)
{
        g_autofree char *nested = g_strnfill(300, 'n'), *path = NULL;
        g_autofree char *text = g_strdup_printf(
                "0::/kubepods.slice/kubepods-pod1.slice/%s/%s/cri-" ID ".scope\n", nested, nested);

        path = ald_parse_control_group(text);
        g_assert_cmpuint(strlen(path), <=, ALD_MESSAGE_STRING_MAX);
        g_assert_true(g_str_has_prefix(path, "/kubepods.slice/kubepods-pod1.slice/.../"));
        g_assert_true(g_str_has_suffix(path, "/cri-" ID ".scope"));
}

static void test_whole_process(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldUserNames) names = ald_user_names_new();
        AldProcessFacts facts;

        fake_root_write_all(root, "proc/17/comm", "train\xff\n", "proc/17/cgroup", "0::/a.slice\n",
                "proc/17/status", "Name:\tUid: 7 7\nUmask:\t0022\nUid:\t1000\t0\t0\t0\nGid:\t1\t1\t1\t1\n",
                NULL);
        g_assert_cmpint(ald_process_facts_read(root->fd, 17, names, &facts), ==, 0);
        g_assert_cmpstr(facts.program, ==, "train\xef\xbf\xbd");
        g_assert_cmpuint(facts.uid, ==, 0);
        g_assert_cmpstr(facts.user, ==, "root");
        g_assert_cmpstr(facts.control_group, ==, "/a.slice");
        ald_process_facts_clear(&facts);
}

static void test_parts_are_missing(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldUserNames) names = ald_user_names_new();
        AldProcessFacts facts;

        g_assert_cmpint(ald_process_facts_read(root->fd, 17, names, &facts), ==, -ESRCH);
        fake_root_write_all(root, "proc/17/comm", "x\n", "proc/17/status", "Uid:\tnone\n", NULL);
        g_assert_cmpint(ald_process_facts_read(root->fd, 17, names, &facts), ==, 0);
        g_assert_cmpuint(facts.uid, ==, ALD_ABSENT_UINT64);
        g_assert_null(facts.user);
        g_assert_null(facts.control_group);
        ald_process_facts_clear(&facts);
}

/* It has its number only, and is not looked up again. */
static void test_user_without_a_name(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldUserNames) names = ald_user_names_new();

        fake_root_write_all(root, "proc/17/comm", "x\n", "proc/17/status",
                "Name:\tx\nUid:\t3987654321\t3987654321\t3987654321\t3987654321\n", NULL);
        for (unsigned i = 0; i < 2; i++) {
                AldProcessFacts facts;

                g_assert_cmpint(ald_process_facts_read(root->fd, 17, names, &facts), ==, 0);
                g_assert_cmpuint(facts.uid, ==, 3987654321);
                g_assert_null(facts.user);
                ald_process_facts_clear(&facts);
        }
        g_assert_cmpuint(g_hash_table_size(names->names), ==, 1);
}

/* A directory of users that is slow delays nothing else; the name is fetched the next time. */
static void test_no_time_for_names(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldUserNames) names = ald_user_names_new();

        fake_root_write_all(
                root, "proc/17/comm", "x\n", "proc/17/status", "Name:\tx\nUid:\t0\t0\t0\t0\n", NULL);
        for (unsigned i = 0; i < 2; i++) {
                AldProcessFacts facts;

                names->until = i == 0 ? 0 : G_MAXINT64;
                g_assert_cmpint(ald_process_facts_read(root->fd, 17, names, &facts), ==, 0);
                g_assert_cmpuint(facts.uid, ==, 0);
                g_assert_cmpstr(facts.user, ==, i == 0 ? NULL : "root");
                ald_process_facts_clear(&facts);
        }
}

static void test_start(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        g_assert_cmpuint(ald_process_start(root->fd, 17), ==, 0);
        fake_root_write(root, "proc/17/stat",
                "17 (a) 1 (b) S 1 17 17 0 -1 4194560 0 0 0 0 5 6 0 0 20 0 1 0 98765 170 42 1\n");
        g_assert_cmpuint(ald_process_start(root->fd, 17), ==, 98765);
        fake_root_write(root, "proc/17/stat", "17 (a) S 1 17\n");
        g_assert_cmpuint(ald_process_start(root->fd, 17), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/process-facts/control-groups", test_control_groups);
        g_test_add_func("/process-facts/long-control-group", test_long_control_group);
        g_test_add_func("/process-facts/whole-process", test_whole_process);
        g_test_add_func("/process-facts/parts-are-missing", test_parts_are_missing);
        g_test_add_func("/process-facts/user-without-a-name", test_user_without_a_name);
        g_test_add_func("/process-facts/no-time-for-names", test_no_time_for_names);
        g_test_add_func("/process-facts/start", test_start);
        return g_test_run();
}
