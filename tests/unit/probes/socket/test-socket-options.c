/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "probes/socket/transfer/socket-options.h"

#define BYTES "--bytes-max: not a number of bytes from 1 to 1125T, with K, M, G or T as suffix: "
#define NODE "0123456789abcdef0123456789abcdef"

/* The arguments are separated by spaces. */
static int parse(const char *line, AldSocketOptions *ret, char **ret_error)
{
        g_autofree char *whole = g_strconcat("probe ", line, NULL), *output = NULL;
        g_auto(GStrv) words = g_strsplit(whole, " ", -1);

        return ald_socket_options_parse((int) g_strv_length(words), words, ret, &output, ret_error);
}

static void assert_parsed(const char *line, AldSocketOptions *ret)
{
        g_autofree char *error = NULL;

        g_test_message("%s", line);
        ald_socket_options_clear(ret);
        g_assert_cmpint(parse(line, ret, &error), ==, 0);
        g_assert_null(error);
}

static void test_fine(void)
{
        g_auto(AldSocketOptions) options = {};

        assert_parsed("--listen --key-file=k", &options);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_LISTEN);
        g_assert_cmpstr(options.link.host, ==, NULL);
        g_assert_cmpuint(options.link.port, ==, ALD_SOCKET_PORT);
        g_assert_cmpuint(options.link.seconds_max, ==, 20);
        g_assert_cmpuint(options.link.bytes_max, ==, ALD_COMMAND_LINE_BYTES_MAX);
        g_assert_cmpuint(options.streams_max, ==, 8);
        assert_parsed("--connect fe80::1%eth0 --identity=d --peer=" NODE " --crl c --json", &options);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_CONNECT);
        g_assert_cmpstr(options.link.host, ==, "fe80::1%eth0");
        g_assert_cmpstr(options.link.keys.peer, ==, NODE);
        g_assert_cmpstr(options.link.keys.crl, ==, "c");
        g_assert_true(options.link.json && options.zerocopy);
        assert_parsed("--session-fd=3 --identity=d --busy=later --report-fd=4", &options);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_SESSION);
        g_assert_cmpint(options.link.session_fd, ==, 3);
        g_assert_cmpint(options.link.report_fd, ==, 4);
        g_assert_cmpint(options.link.progress_fd, ==, -1);
        g_assert_cmpstr(options.busy, ==, "later");
        assert_parsed(
                "--connect=h --key-file=k --bytes-max=10G --seconds-max=2 --streams-max=1 --no-zerocopy",
                &options);
        g_assert_cmpuint(options.link.bytes_max, ==, UINT64_C(10000000000));
        g_assert_cmpuint(options.link.seconds_max, ==, 2);
        g_assert_cmpuint(options.streams_max, ==, 1);
        g_assert_false(options.zerocopy);
        g_assert_cmpint(options.scope, ==, ALD_SOCKET_SCOPE_FULL);
        assert_parsed("--connect=h --key-file=k --check", &options);
        g_assert_cmpint(options.scope, ==, ALD_SOCKET_SCOPE_CHECK);
        assert_parsed("--connect=h --key-file=k --round-trips", &options);
        g_assert_cmpint(options.scope, ==, ALD_SOCKET_SCOPE_ROUND_TRIPS);
        assert_parsed("--connect=h --key-file=k --rtt-only", &options);
        g_assert_cmpint(options.scope, ==, ALD_SOCKET_SCOPE_RTT_ONLY);
}

/* The address to listen on, which may be left out. */
static void test_listen(void)
{
        static const char *const lines[] = {
                "--listen=192.0.2.1 --key-file=k --once",
                "--listen 192.0.2.1 --key-file k --once",
                "--listen --key-file k --once 192.0.2.1",
                "--key-file=k --once --listen 192.0.2.1",
        };
        g_auto(AldSocketOptions) options = {};

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                assert_parsed(lines[i], &options);
                g_assert_cmpstr(options.link.host, ==, "192.0.2.1");
                g_assert_cmpstr(options.link.keys.key_file, ==, "k");
                g_assert_true(options.link.once);
        }
        assert_parsed("--listen --once --key-file=k", &options);
        g_assert_null(options.link.host);
}

/* Each option that takes an argument, with = and as two words. */
static void test_both_forms(void)
{
        static const char *const forms[] = {
                "--connect=h --port=1 --key-file=k --seconds-max=3 --bytes-max=4K --bind-device=eth0 "
                "--source=a --streams-max=2 --progress-fd=5 --report-fd=6 --inhibited=i --busy=b",
                "--connect h --port 1 --key-file k --seconds-max 3 --bytes-max 4K --bind-device eth0 "
                "--source a --streams-max 2 --progress-fd 5 --report-fd 6 --inhibited i --busy b",
        };
        g_auto(AldSocketOptions) options = {};

        for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
                assert_parsed(forms[i], &options);
                g_assert_cmpstr(options.link.host, ==, "h");
                g_assert_cmpuint(options.link.port, ==, 1);
                g_assert_cmpstr(options.link.keys.key_file, ==, "k");
                g_assert_cmpuint(options.link.seconds_max, ==, 3);
                g_assert_cmpuint(options.link.bytes_max, ==, 4000);
                g_assert_cmpstr(options.link.interface, ==, "eth0");
                g_assert_cmpstr(options.source, ==, "a");
                g_assert_cmpuint(options.streams_max, ==, 2);
                g_assert_cmpint(options.link.progress_fd, ==, 5);
                g_assert_cmpint(options.link.report_fd, ==, 6);
                g_assert_cmpstr(options.inhibited, ==, "i");
                g_assert_cmpstr(options.busy, ==, "b");
        }
}

static void test_scope(void)
{
        for (AldSocketScope scope = ALD_SOCKET_SCOPE_FULL; scope <= ALD_SOCKET_SCOPE_ROUND_TRIPS; scope++)
                g_assert_cmpint(ald_socket_scope_from_string(ald_socket_scope_to_string(scope)), ==, scope);
        g_assert_cmpstr(ald_socket_scope_to_string(ALD_SOCKET_SCOPE_RTT_ONLY), ==, "round-trips");
        g_assert_cmpint(ald_socket_scope_from_string("half"), ==, ALD_SOCKET_SCOPE_FULL);
        g_assert_cmpint(ald_socket_scope_from_string(NULL), ==, ALD_SOCKET_SCOPE_FULL);
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
                { "--connect=h --key-file=k --fast", "Unknown option --fast" },
                { "--connect", "Missing argument for --connect" },
                { "--connect=h --port=0", "--port: not a number from 1 to 65519: 0" },
                { "--connect=h --streams-max=9", "--streams-max: not a number from 1 to 8: 9" },
                { "--connect=h --seconds-max=1.5", "--seconds-max: not a number from 1 to 60: 1.5" },
                { "--connect=h --bytes-max=9000T", BYTES "9000T" },
                { "--connect=h --bytes-max=K", BYTES "K" },
                { "--connect=h --bytes-max=1.5G", BYTES "1.5G" },
                { "--connect=h --bytes-max=-1", BYTES "-1" },
                { "--connect=h --port=18446744073709551617",
                        "--port: not a number from 1 to 65519: 18446744073709551617" },
                { "--connect=h --port=-1", "--port: not a number from 1 to 65519: -1" },
                { "--connect=h --port=80x", "--port: not a number from 1 to 65519: 80x" },
                { "--connect=h --port=", "--port: not a number from 1 to 65519: " },
                { "--session-fd=x", "--session-fd: not a number from 0 to 65535: x" },
                { "--listen=a b --key-file=k", "unexpected argument: b" },
                { "--session-fd=3 --key-file=k --ask", "--ask needs --report-fd" },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_autofree char *error = NULL;
                AldSocketOptions options = { .link.port = 1 };

                g_assert_cmpint(parse(lines[i][0], &options, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, lines[i][1]);
                g_assert_cmpuint(options.link.port, ==, 1);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/options/fine", test_fine);
        g_test_add_func("/socket/options/listen", test_listen);
        g_test_add_func("/socket/options/both-forms", test_both_forms);
        g_test_add_func("/socket/options/refused", test_refused);
        g_test_add_func("/socket/options/scope", test_scope);
        return g_test_run();
}
