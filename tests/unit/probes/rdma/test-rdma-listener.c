/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "probes/common/address.h"
#include "probes/common/probe-clock.h"
#include "probes/rdma/rdma-listener.h"
#include "probes/rdma/rdma-measurement.h"

/* The listener of the RDMA probe while the system has no file descriptor left for those who come. */

#define CALLS 3u
#define LEAST (200 * ALD_NSEC_PER_MSEC) /* from the first to the last of them */

static unsigned calls;
static uint64_t first, last;

/* Somebody is always there. */
int __wrap_ald_address_listen(
        const AldAddress *at, const char *device, unsigned backlog, int *ret, AldFailure *failure);
int __wrap_ald_address_listen(
        const AldAddress *at, const char *device, unsigned backlog, int *ret, AldFailure *failure)
{
        *ret = eventfd(1, EFD_CLOEXEC);
        return 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
        last = ald_now();
        if (++calls == 1)
                first = last;
        if (calls == CALLS)
                g_assert_cmpint(raise(SIGTERM), ==, 0);
        errno = EMFILE;
        return -1;
}

static void run_out_of_files(void)
{
        g_autofree char *folder = g_dir_make_tmp("rdma-XXXXXX", NULL);
        g_autofree char *key = g_build_filename(folder, "key", NULL);
        const AldRdmaOptions options = { .link = { .mode = ALD_LINK_MODE_LISTEN,
                                                 .host = "127.0.0.1",
                                                 .port = 1,
                                                 .report_fd = -1,
                                                 .keys.key_file = key } };

        /* The listener warns each time. */
        g_log_set_always_fatal(G_LOG_FATAL_MASK);
        g_assert_true(g_file_set_contents_full(
                key, "a secret of which both know", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        g_assert_cmpint(ald_rdma_listener_run(&options), ==, EXIT_SUCCESS);
        g_unlink(key);
        g_rmdir(folder);
        g_assert_cmpuint(calls, ==, CALLS);
        g_assert_cmpuint(last - first, >=, LEAST);
}

static void test_out_of_files(void)
{
        if (g_test_subprocess()) {
                run_out_of_files();
                return;
        }
        g_test_trap_subprocess(NULL, 0, 0);
        g_test_trap_assert_passed();
}

/* What is printed of a peer where nobody asked for JSON. */
static void test_words(void)
{
        AldRdmaSessionReport served = {
                .address = "192.0.2.7", .port = "mlx5_0.1", .received = 12500000000, .sent = 250000000
        };
        AldFailure failure = {};
        g_autofree char *well = ald_rdma_session_report_to_text(&served, &failure), *failed = NULL,
                        *early = NULL;

        g_assert_cmpstr(well, ==, "192.0.2.7: 11.6 GiB from there, 238 MiB back, by mlx5_0.1");
        (void) ald_fail(&failure, ALD_FAILURE_NO_DEVICE, "there is no RDMA device");
        failed = ald_rdma_session_report_to_text(&served, &failure);
        g_assert_cmpstr(failed, ==, "192.0.2.7: there is no RDMA device");
        early = ald_rdma_session_report_to_text(&(AldRdmaSessionReport){}, &failure);
        g_assert_cmpstr(early, ==, "no session: there is no RDMA device");
        ald_failure_clear(&failure);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/listener/words", test_words);
        g_test_add_func("/rdma/listener/out-of-files", test_out_of_files);
        return g_test_run();
}
