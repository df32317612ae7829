/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "probes/rdma/talk.h"

/* After how many turns without anything done it is seen that the talk is to stop. */
static unsigned turns_until_stopped(unsigned idle)
{
        struct ibv_context context = { .async_fd = -1 };
        AldFailure failure = {};
        AldTalk talk = { .channel.stop = eventfd(1, EFD_CLOEXEC),
                .pair = { .context = &context, .idle = idle },
                .failure = &failure };
        AldRdmaMessage message;
        unsigned n = 1;

        while (ald_talk_look(&talk, UINT64_MAX, &message) == 0)
                n++;
        g_assert_cmpint(failure.kind, ==, ALD_FAILURE_ABORTED);
        ald_failure_clear(&failure);
        close(talk.channel.stop);
        return n;
}

/* To look costs what a round trip takes. Where nothing comes others have the processor meanwhile, maybe for
 * long. */
static void test_looks(void)
{
        g_assert_cmpuint(turns_until_stopped(0), >=, 1000);
        g_assert_cmpuint(turns_until_stopped(1u << 30), <=, 100);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/talk/looks", test_looks);
        return g_test_run();
}
