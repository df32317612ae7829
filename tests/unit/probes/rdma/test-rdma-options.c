/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "probes/rdma/rdma-options.h"

/* The arguments are separated by spaces. */
static int parse(const char *line, AldRdmaOptions *ret)
{
        g_auto(GStrv) words = g_strsplit(line, " ", -1);
        g_autofree char *error = NULL, *output = NULL;
        int r;

        g_test_message("%s", line);
        ald_rdma_options_clear(ret);
        r = ald_rdma_options_parse((int) g_strv_length(words), words, ret, &output, &error);
        g_assert_cmpint(r < 0, ==, error != NULL);
        g_assert_cmpint(r > 0, ==, output != NULL);
        return r;
}

static void test_good(void)
{
        g_auto(AldRdmaOptions) options = {};

        g_assert_cmpint(parse("p --connect=fe80::1%eth0 --key-file=k", &options), ==, 0);
        g_assert_cmpstr(options.link.host, ==, "fe80::1%eth0");
        g_assert_cmpuint(options.link.seconds_max, ==, 5);
        g_assert_cmpuint(options.link.port, ==, 7480);
        g_assert_cmpuint(options.timeout, ==, 50);
        g_assert_cmpuint(options.size, ==, 0);
        g_assert_null(options.device);
        g_assert_cmpint(parse("p --listen --identity=d --device=mlx5_0.1 --message-bytes=65536 --once --json",
                                &options),
                ==, 0);
        g_assert_true(options.link.mode == ALD_LINK_MODE_LISTEN && options.link.once && options.link.json);
        g_assert_null(options.link.host);
        g_assert_cmpstr(options.device, ==, "mlx5_0.1");
        g_assert_cmpuint(options.size, ==, 65536);
        g_assert_cmpint(parse("p --listen 192.0.2.1 --key-file k --message-bytes 1024", &options), ==, 0);
        g_assert_cmpstr(options.link.host, ==, "192.0.2.1");
        g_assert_cmpstr(options.link.keys.key_file, ==, "k");
        g_assert_cmpuint(options.size, ==, 1024);
        g_assert_cmpint(parse("p --help", &options), ==, 1);
        g_assert_cmpint(parse("p --version", &options), ==, 1);
}

/* As the daemon calls it. */
static void test_daemon(void)
{
        g_auto(AldRdmaOptions) options = {};

        g_assert_cmpint(parse("p --connect=fe80::1%eth0 --port=7461 --identity=d --crl=c "
                              "--peer=0123456789abcdef0123456789abcdef --bind-device=eth0 "
                              "--device=mlx5_0.1 --peer-device=mlx5_1.2 --seconds-max=3 "
                              "--bytes-max=20G --timeout=40 --json --progress-fd=3",
                                &options),
                ==, 0);
        g_assert_cmpstr(options.peer_device, ==, "mlx5_1.2");
        g_assert_cmpstr(options.link.interface, ==, "eth0");
        g_assert_cmpstr(options.link.keys.crl, ==, "c");
        g_assert_cmpuint(options.link.bytes_max, ==, UINT64_C(20000000000));
        g_assert_cmpuint(options.timeout, ==, 40);
        g_assert_cmpint(options.link.progress_fd, ==, 3);
        g_assert_cmpint(
                parse("p --session-fd=4 --report-fd=3 --ask --port=7461 --identity=d", &options), ==, 0);
        g_assert_cmpint(options.link.mode, ==, ALD_LINK_MODE_SESSION);
        g_assert_cmpint(options.link.session_fd, ==, 4);
        g_assert_cmpint(options.link.report_fd, ==, 3);
        g_assert_true(options.link.ask);
        g_assert_cmpint(parse("p --connect=a --key-file=k --method=send --qps=8 --cm", &options), ==, 0);
        g_assert_cmpint(options.method, ==, ALD_RDMA_METHOD_SEND);
        g_assert_cmpuint(options.queues, ==, 8);
        g_assert_true(options.manager);
}

static void test_bad(void)
{
        static const char *const lines[] = { "p", "p --connect=x", "p --listen --connect=x --key-file=k",
                "p --connect=x --key-file=k --identity=d", "p --connect=x --key-file=k --peer=y",
                "p --connect=x --identity=d --peer=y", "p --connect=x --key-file=k --port=0",
                "p --connect=x --key-file=k --message-bytes=1", "p --connect=x --key-file=k --seconds-max=10",
                "p --connect=x --key-file=k more", "p --unknown", "p --connect=x --key-file=k --ask",
                "p --connect=x --key-file=k --once", "p --connect= --key-file=k",
                "p --connect=x --key-file=k --method=read", "p --connect=x --key-file=k --qps=9",
                "p --connect=x --session-fd=4 --key-file=k", "p --connect",
                "p --connect=x --key-file=k --timeout=4294967297",
                "p --connect=x --key-file=k --qps=", "p --connect=x --key-file=k --message-bytes=64K",
                "p --connect=x --key-file=k --cm=yes" };

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                AldRdmaOptions options = {};

                g_assert_cmpint(parse(lines[i], &options), ==, -EINVAL);
                g_assert_null(options.link.host);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/options/good", test_good);
        g_test_add_func("/rdma/options/daemon", test_daemon);
        g_test_add_func("/rdma/options/bad", test_bad);
        return g_test_run();
}
