/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/peers/will-delay.h"
#include "tests/unit/record-maker.h"

#define CLUSTER "bed"

typedef struct Fixture {
        AldWillDelay *will_delay;
        GPtrArray *passed; /* topics */
} Fixture;

static void on_passed(const AldReceived *received, void *userdata)
{
        Fixture *f = userdata;

        g_ptr_array_add(f->passed, g_strdup(received->topic));
}

static void set_up(Fixture *f, gconstpointer unused)
{
        f->will_delay = ald_will_delay_new(on_passed, f);
        f->passed = g_ptr_array_new_with_free_func(g_free);
}

static void tear_down(Fixture *f, gconstpointer unused)
{
        ald_will_delay_free(f->will_delay);
        g_ptr_array_unref(f->passed);
}

/* The status of a node through a broker, as long ago as `now` says. */
static bool hold(
        Fixture *f, unsigned node, AldNodeStatusState state, uint32_t broker, bool retained, gint64 now)
{
        const AldTopic topic = { .type = ALD_TOPIC_STATUS, .node = id_make(node) };
        const AldNodeStatus status = {
                .state = ald_node_status_state_to_string(state),
                .epoch = 1,
                .connection = 1,
                .instance = ID_TEXT(9),
                .announced_epoch = ALD_ABSENT_UINT64,
        };
        g_autofree char *name = ald_topic_format(&topic, CLUSTER),
                        *payload = ald_message_format(ALD_KIND_NODE_STATUS, &status);
        const AldId own = id_make(1);

        return ald_will_delay_hold(f->will_delay,
                &(AldReceived){ broker, 1, name, payload, strlen(payload), retained }, CLUSTER, &own, now);
}

static void test_only_the_end_of_others_waits(Fixture *f, gconstpointer unused)
{
        gint64 now = g_get_monotonic_time();

        g_assert_true(hold(f, 2, ALD_NODE_STATUS_STATE_OFFLINE, 1, false, now));
        g_assert_false(hold(f, 2, ALD_NODE_STATUS_STATE_OFFLINE, 1, true, now));
        g_assert_false(hold(f, 2, ALD_NODE_STATUS_STATE_ONLINE, 1, false, now));
        g_assert_false(hold(f, 1, ALD_NODE_STATUS_STATE_OFFLINE, 1, false, now));
        g_assert_cmpuint(f->passed->len, ==, 0);
}

static void test_goes_with_its_broker(Fixture *f, gconstpointer unused)
{
        gint64 past = g_get_monotonic_time() - ALD_WILL_DELAY_USEC;

        g_assert_true(hold(f, 2, ALD_NODE_STATUS_STATE_OFFLINE, 1, false, past));
        g_assert_true(hold(f, 3, ALD_NODE_STATUS_STATE_OFFLINE, 2, false, past));
        g_assert_true(hold(f, 4, ALD_NODE_STATUS_STATE_OFFLINE, 1, false, past));
        ald_will_delay_lose(f->will_delay, 1);
        while (f->passed->len == 0)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(f->passed->len, ==, 1);
        g_assert_nonnull(strstr(f->passed->pdata[0], "00000003"));
}

/* Of too many the oldest goes on at once. */
static void test_bounded(Fixture *f, gconstpointer unused)
{
        gint64 now = g_get_monotonic_time();

        for (unsigned i = 0; i < ALD_WILL_DELAY_MAX; i++)
                g_assert_true(hold(f, i + 2, ALD_NODE_STATUS_STATE_OFFLINE, 1, false, now));
        g_assert_cmpuint(f->passed->len, ==, 0);
        g_assert_true(hold(f, 2, ALD_NODE_STATUS_STATE_OFFLINE, 1, false, now));
        g_assert_cmpuint(f->passed->len, ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add(
                "/will-delay/which", Fixture, NULL, set_up, test_only_the_end_of_others_waits, tear_down);
        g_test_add("/will-delay/broker", Fixture, NULL, set_up, test_goes_with_its_broker, tear_down);
        g_test_add("/will-delay/bounded", Fixture, NULL, set_up, test_bounded, tear_down);
        return g_test_run();
}
