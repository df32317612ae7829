/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "probes/rdma/rdma-session.h"

/* After how many turns it is seen that the session is to stop. */
static unsigned turns_until_stopped(bool rests)
{
        struct ibv_context context = { .async_fd = -1 };
        struct ibv_comp_channel channel = { .fd = -1 };
        AldFailure failure = {};
        AldRdmaSession session = { .channel.stop = eventfd(1, EFD_CLOEXEC),
                .endpoint = { .context = &context, .channel = &channel, .armed = true },
                .failure = &failure };
        unsigned n = 1;

        if (rests)
                g_assert_cmpint(ald_rdma_session_wait(&session), ==, 0);
        while (ald_rdma_session_poll(&session, UINT64_MAX, NULL) == 0)
                n++;
        g_assert_cmpint(failure.kind, ==, ALD_FAILURE_ABORTED);
        ald_failure_clear(&failure);
        close(session.channel.stop);
        return n;
}

/* To look costs what a round trip takes, but while nothing comes there is time. */
static void test_looks(void)
{
        g_assert_cmpuint(turns_until_stopped(false), >=, 1000);
        g_assert_cmpuint(turns_until_stopped(true), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/session/looks", test_looks);
        return g_test_run();
}
