/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "common/node-id.h"
#include "tests/unit/log-count.h"

/* A node must never change its id, so the mapping is held by value. */
static void test_given(void)
{
        char id[ALD_NODE_ID_SIZE], other[ALD_NODE_ID_SIZE];

        g_setenv("ALIDADE_MACHINE_ID", "00112233445566778899aabbccddeeff", TRUE);
        g_assert_cmpint(ald_node_id(id), ==, 0);
        g_assert_cmpstr(id, ==, "c65f3720f5ef48a6a1a837d5a46a23cc");
        g_setenv("ALIDADE_MACHINE_ID", "00112233445566778899aabbccddeefe", TRUE);
        g_assert_cmpint(ald_node_id(other), ==, 0);
        g_assert_cmpstr(id, !=, other);
}

/* The stand-in derives as systemd does, so a node keeps its id when it is given its own machine id. */
static void test_same_as_systemd(void)
{
        g_autofree char *machine_id = NULL;
        char given[ALD_NODE_ID_SIZE], own[ALD_NODE_ID_SIZE];

        g_unsetenv("ALIDADE_MACHINE_ID");
        if (!g_file_get_contents("/etc/machine-id", &machine_id, NULL, NULL) || ald_node_id(own) < 0) {
                g_test_skip("this machine has no machine id");
                return;
        }
        g_setenv("ALIDADE_MACHINE_ID", g_strstrip(machine_id), TRUE);
        g_assert_cmpint(ald_node_id(given), ==, 0);
        g_assert_cmpstr(given, ==, own);
        g_assert_cmpstr(given, !=, machine_id);
}

static void test_refused(void)
{
        static const char *const bad[] = { "short", "00112233445566778899aabbccddeefg",
                "00112233445566778899aabbccddeeff00" };
        char id[ALD_NODE_ID_SIZE] = "untouched";

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                log_count_reset();
                g_setenv("ALIDADE_MACHINE_ID", bad[i], TRUE);
                g_assert_cmpint(ald_node_id(id), <, 0);
                g_assert_cmpstr(id, ==, "untouched");
                g_assert_cmpuint(log_count(bad[i]), ==, 1);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_log_set_always_fatal(G_LOG_FATAL_MASK);
        log_count_install();
        g_test_add_func("/node-id/given", test_given);
        g_test_add_func("/node-id/same-as-systemd", test_same_as_systemd);
        g_test_add_func("/node-id/refused", test_refused);
        return g_test_run();
}
