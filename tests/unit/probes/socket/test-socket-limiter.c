/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/limiter.h"

typedef struct Case {
        AldSocketEffort sender, receiver;
        AldSocketVerdictLimiter limiter;
        bool more;
} Case;

static const Case cases[] = {
        /* Both have time, and a queue stands on the way. */
        { { .busy = 100, .standing = 9000, .lost = 500 }, { .busy = 50 }, ALD_SOCKET_VERDICT_LIMITER_NETWORK,
                false },
        /* Lossy without a queue: each connection backs off on its own. */
        { { .busy = 100, .standing = 1100, .lost = 500 }, { .busy = 50 }, ALD_SOCKET_VERDICT_LIMITER_NETWORK,
                true },
        /* A thread is full: another helps only where a processor is idle. */
        { { .busy = 990, .spare = 3000 }, { .busy = 400, .spare = 3000 }, ALD_SOCKET_VERDICT_LIMITER_SENDER,
                true },
        { { .busy = 990, .spare = 100 }, { .busy = 400, .spare = 3000 }, ALD_SOCKET_VERDICT_LIMITER_SENDER,
                false },
        { { .busy = 400, .spare = 100 }, { .busy = 990, .spare = 3000 }, ALD_SOCKET_VERDICT_LIMITER_RECEIVER,
                true },
        { { .busy = 400, .spare = 3000 }, { .busy = 990, .spare = 100 }, ALD_SOCKET_VERDICT_LIMITER_RECEIVER,
                false },
        { { .busy = 900, .rwnd = 900 }, { .busy = 950, .spare = 2000 }, ALD_SOCKET_VERDICT_LIMITER_RECEIVER,
                false },
        /* Windows. */
        { { .busy = 100, .rwnd = 800 }, { .busy = 100 }, ALD_SOCKET_VERDICT_LIMITER_RECEIVER, true },
        { { .busy = 100, .sndbuf = 800, .rwnd = 300 }, { .busy = 100 }, ALD_SOCKET_VERDICT_LIMITER_SENDER,
                true },
        { { .busy = 100, .idle = 900 }, { .busy = 100 }, ALD_SOCKET_VERDICT_LIMITER_APPLICATION, false },
};

static void test_cases(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldSocketVerdictLimiter found = ald_limiter_find(&cases[i].sender, &cases[i].receiver);

                g_test_message("case %u", i);
                g_assert_cmpstr(ald_socket_verdict_limiter_to_string(found), ==,
                        ald_socket_verdict_limiter_to_string(cases[i].limiter));
                g_assert_cmpint(ald_limiter_streams_may_help(&cases[i].sender, &cases[i].receiver), ==,
                        cases[i].more);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/limiter/cases", test_cases);
        return g_test_run();
}
