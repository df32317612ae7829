/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/socket/options.h"

#define NODE "0123456789abcdef0123456789abcdef"

/* The arguments are parted by spaces. */
static int parse(const char *line, AldProbeOptions *ret, char **ret_error)
{
        g_autofree char *whole = g_strconcat("probe ", line, NULL);
        /* Options point into the words. */
        char **words = g_strsplit(whole, " ", -1);

        g_test_queue_destroy((GDestroyNotify) (void (*)(void)) g_strfreev, words);
        return ald_probe_options_parse((int) g_strv_length(words), words, ret, ret_error);
}

static void test_fine(void)
{
        AldProbeOptions options;

        g_assert_cmpint(parse("--listen --key-file=k", &options, NULL), ==, 0);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_LISTEN);
        g_assert_cmpstr(options.link.host, ==, NULL);
        g_assert_cmpuint(options.link.port, ==, ALD_PROBE_PORT);
        g_assert_cmpint(parse("--listen 192.0.2.1 --key-file k --once", &options, NULL), ==, 0);
        g_assert_cmpstr(options.link.host, ==, "192.0.2.1");
        g_assert_true(options.link.once);
        g_assert_cmpint(
                parse("--connect fe80::1%eth0 --identity=d --peer=" NODE " --crl c --json", &options, NULL),
                ==, 0);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_CONNECT);
        g_assert_cmpstr(options.link.host, ==, "fe80::1%eth0");
        g_assert_cmpstr(options.link.keys.peer, ==, NODE);
        g_assert_cmpstr(options.link.keys.crl, ==, "c");
        g_assert_true(options.link.json && options.zerocopy);
        g_assert_cmpint(
                parse("--session-fd=3 --identity=d --busy=later --report-fd=4", &options, NULL), ==, 0);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_SESSION);
        g_assert_cmpint(options.link.session_fd, ==, 3);
        g_assert_cmpint(options.link.report_fd, ==, 4);
        g_assert_cmpint(options.link.progress_fd, ==, -1);
        g_assert_cmpstr(options.busy, ==, "later");
        g_assert_cmpint(parse("--connect=h --key-file=k --bytes-max=10G --seconds-max=2 --streams-max=1",
                                &options, NULL),
                ==, 0);
        g_assert_cmpuint(options.link.bytes_max, ==, UINT64_C(10000000000));
        g_assert_cmpuint(options.link.seconds_max, ==, 2);
        g_assert_cmpuint(options.streams_max, ==, 1);
        g_assert_cmpint(options.scope, ==, ALD_PROBE_FULL);
        g_assert_cmpint(parse("--connect=h --key-file=k --check", &options, NULL), ==, 0);
        g_assert_cmpint(options.scope, ==, ALD_PROBE_CHECK);
        g_assert_cmpint(parse("--connect=h --key-file=k --round-trips", &options, NULL), ==, 0);
        g_assert_cmpint(options.scope, ==, ALD_PROBE_ROUND_TRIPS);
        g_assert_cmpint(parse("--help", &options, NULL), ==, 0);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_HELP);
}

static void test_scope(void)
{
        for (AldProbeScope scope = ALD_PROBE_FULL; scope <= ALD_PROBE_ROUND_TRIPS; scope++)
                g_assert_cmpint(ald_probe_scope_from_string(ald_probe_scope_to_string(scope)), ==, scope);
        g_assert_cmpstr(ald_probe_scope_to_string(ALD_PROBE_RTT_ONLY), ==, "round-trips");
        g_assert_cmpint(ald_probe_scope_from_string("half"), ==, ALD_PROBE_FULL);
        g_assert_cmpint(ald_probe_scope_from_string(NULL), ==, ALD_PROBE_FULL);
}

static void test_refused(void)
{
        static const char *const lines[][2] = {
                { "--key-file=k", "one of --listen and --connect is needed" },
                { "--connect=h", "one of --key-file and --identity is needed" },
                { "--connect=h --key-file=k --identity=d", "--key-file and --identity cannot be combined" },
                { "--connect=h --listen --key-file=k",
                        "--listen, --connect and --session-fd cannot be combined" },
                { "--connect= --key-file=k", "--connect needs a host" },
                { "--connect=h --key-file=k --peer=" NODE, "--peer and --crl need --identity" },
                { "--connect=h --identity=d --peer=bob", "--peer: not a node id: bob" },
                { "--connect=h --key-file=k --once", "--once needs --listen" },
                { "--connect=h --key-file=k --check --rtt-only",
                        "--rtt-only, --round-trips and --check cannot be combined" },
                { "--connect=h --key-file=k what", "unexpected argument: what" },
                { "--connect=h --key-file=k --fast", "unknown option, or missing argument: --fast" },
                { "--connect", "unknown option, or missing argument: --connect" },
                { "--connect=h --port=0", "--port: not a number from 1 to 65519: 0" },
                { "--connect=h --streams-max=9", "--streams-max: not a number from 1 to 8: 9" },
                { "--connect=h --seconds-max=1.5", "--seconds-max: not a number from 1 to 60: 1.5" },
                { "--connect=h --bytes-max=9000T", "--bytes-max: not a number from 1 to 1125: 9000" },
                { "--connect=h --bytes-max=K", "--bytes-max: not a number from 1 to 1125899906842: " },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_autofree char *error = NULL;
                AldProbeOptions options = { .link.port = 1 };

                g_assert_cmpint(parse(lines[i][0], &options, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, lines[i][1]);
                g_assert_cmpuint(options.link.port, ==, 1);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/options/fine", test_fine);
        g_test_add_func("/probe/options/refused", test_refused);
        g_test_add_func("/probe/options/scope", test_scope);
        return g_test_run();
}
