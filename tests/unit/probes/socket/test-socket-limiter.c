/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/limiter.h"

typedef struct Case {
        AldSocketEffort sender, receiver;
        bool steady;
        AldSocketLimiter limiter;
        AldEvaluatorBound bound;
} Case;

#define AT_REST                           \
        {                                 \
                .busy = 50, .spare = 3000 \
        }

static const Case cases[] = {
        /* Both have time, and a queue stands on the way. */
        { { .busy = 100, .spare = 3000, .standing = 9000, .lost = 500 }, AT_REST, false,
                ALD_SOCKET_LIMITER_NETWORK, ALD_EVALUATOR_UNBOUND },
        /* A full link without a queue, as with BBR, is steady. */
        { { .busy = 100, .spare = 3000, .standing = 1100 }, AT_REST, true, ALD_SOCKET_LIMITER_NETWORK,
                ALD_EVALUATOR_UNBOUND },
        { { .busy = 100, .spare = 3000, .standing = 1100, .lost = 500 }, AT_REST, true,
                ALD_SOCKET_LIMITER_NETWORK, ALD_EVALUATOR_BOUND_BY_LOSS },
        /* Lossy without a queue: each connection backs off on its own. */
        { { .busy = 100, .spare = 3000, .standing = 1100, .lost = 500 }, AT_REST, false,
                ALD_SOCKET_LIMITER_LOSS, ALD_EVALUATOR_BOUND_BY_LOSS },
        /* Heavy loss limits the rate even if the round trip varies, which looks like a queue. */
        { { .busy = 100, .spare = 3000, .standing = 1800, .lost = 20000 }, AT_REST, false,
                ALD_SOCKET_LIMITER_LOSS, ALD_EVALUATOR_BOUND_BY_LOSS },
        { { .busy = 100, .spare = 100, .standing = 9000, .lost = 10000 }, AT_REST, false,
                ALD_SOCKET_LIMITER_LOSS, ALD_EVALUATOR_BOUND_BY_LOSS },
        /* Just below it, and on a full link, the queue and the steady rate decide. */
        { { .busy = 100, .spare = 3000, .standing = 9000, .lost = 9999 }, AT_REST, false,
                ALD_SOCKET_LIMITER_NETWORK, ALD_EVALUATOR_UNBOUND },
        { { .busy = 100, .spare = 3000, .standing = 9000, .lost = 20000 }, AT_REST, true,
                ALD_SOCKET_LIMITER_NETWORK, ALD_EVALUATOR_BOUND_BY_LOSS },
        /* Machines that have no time to spare keep the link waiting, unless it is full. */
        { { .busy = 100, .spare = 100, .standing = 9000 }, AT_REST, false, ALD_SOCKET_LIMITER_SENDER,
                ALD_EVALUATOR_UNBOUND },
        { { .busy = 100, .spare = 900, .standing = 9000 }, { .busy = 50, .spare = 10 }, false,
                ALD_SOCKET_LIMITER_RECEIVER, ALD_EVALUATOR_UNBOUND },
        { { .busy = 100, .spare = 100 }, { .busy = 50 }, true, ALD_SOCKET_LIMITER_NETWORK,
                ALD_EVALUATOR_UNBOUND },
        { { .busy = 100, .spare = 100, .standing = 1100, .lost = 500 }, AT_REST, false,
                ALD_SOCKET_LIMITER_LOSS, ALD_EVALUATOR_BOUND_BY_LOSS },
        /* Nothing is known to limit it. */
        { { .busy = 100, .spare = 3000, .standing = 1100 }, AT_REST, false, ALD_SOCKET_LIMITER_UNKNOWN,
                ALD_EVALUATOR_UNBOUND },
        /* A thread is full: another helps only where a processor is idle. */
        { { .busy = 990, .spare = 3000 }, { .busy = 400, .spare = 3000 }, true, ALD_SOCKET_LIMITER_SENDER,
                ALD_EVALUATOR_BOUND_SINGLY },
        { { .busy = 990, .spare = 100 }, { .busy = 400, .spare = 3000 }, true, ALD_SOCKET_LIMITER_SENDER,
                ALD_EVALUATOR_UNBOUND },
        { { .busy = 400, .spare = 100 }, { .busy = 990, .spare = 3000 }, true, ALD_SOCKET_LIMITER_RECEIVER,
                ALD_EVALUATOR_BOUND_SINGLY },
        { { .busy = 400, .spare = 3000 }, { .busy = 990, .spare = 100 }, true, ALD_SOCKET_LIMITER_RECEIVER,
                ALD_EVALUATOR_UNBOUND },
        { { .busy = 900, .rwnd = 900 }, { .busy = 950, .spare = 2000 }, true, ALD_SOCKET_LIMITER_RECEIVER,
                ALD_EVALUATOR_UNBOUND },
        /* Windows. */
        { { .busy = 100, .spare = 3000, .rwnd = 800 }, AT_REST, true, ALD_SOCKET_LIMITER_RECEIVER,
                ALD_EVALUATOR_BOUND_SINGLY },
        { { .busy = 100, .spare = 3000, .sndbuf = 800, .rwnd = 300 }, AT_REST, true,
                ALD_SOCKET_LIMITER_SENDER, ALD_EVALUATOR_BOUND_SINGLY },
        { { .busy = 100, .spare = 3000, .idle = 900 }, AT_REST, true, ALD_SOCKET_LIMITER_APPLICATION,
                ALD_EVALUATOR_UNBOUND },
};

static void test_cases(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Case *one = &cases[i];

                g_test_message("case %u", i);
                g_assert_cmpint(
                        ald_socket_limiter_find(&one->sender, &one->receiver, one->steady), ==, one->limiter);
                g_assert_cmpint(ald_socket_limiter_bound(&one->sender, &one->receiver), ==, one->bound);
        }
}

static void test_words(void)
{
        for (AldSocketLimiter i = ALD_SOCKET_LIMITER_NETWORK; i <= ALD_SOCKET_LIMITER_APPLICATION; i++)
                g_assert_cmpint(ald_socket_limiter_from_string(ald_socket_limiter_to_string(i)), ==, i);
        g_assert_null(ald_socket_limiter_to_string(ALD_SOCKET_LIMITER_UNKNOWN));
        g_assert_cmpint(ald_socket_limiter_from_string("moon"), ==, ALD_SOCKET_LIMITER_UNKNOWN);
        g_assert_cmpint(ald_socket_limiter_from_string(NULL), ==, ALD_SOCKET_LIMITER_UNKNOWN);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/limiter/cases", test_cases);
        g_test_add_func("/socket/limiter/words", test_words);
        return g_test_run();
}
