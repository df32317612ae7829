/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/store/presence.h"
#include "tests/unit/record-maker.h"

#define SECOND UINT64_C(1000000)
#define START (UINT64_C(1000) * SECOND)
#define REAL_START (UINT64_C(1700000000) * SECOND)

/* What happens to a node, at a time in seconds, through a broker; and what it is then. */
typedef enum What {
        WAIT, /* nothing but time */
        ALIVE,
        ONLINE,
        OFFLINE,
        DUPLICATE,
        KEPT_ONLINE, /* retained */
        KEPT_OFFLINE,
        BROKEN, /* we lose that broker, and have others */
        LOST,   /* we lose the last broker */
        FOUND,  /* and have one again */
} What;

typedef struct Step {
        double at;
        What what;
        uint32_t broker;
        unsigned instance;
        uint64_t epoch, conn;
        AldPresenceState state;
} Step;

#define STEPS_MAX 12

typedef struct Story {
        const char *name;
        Step steps[STEPS_MAX];
} Story;

#define ON ALD_PRESENCE_STATE_ONLINE
#define STALE ALD_PRESENCE_STATE_STALE
#define OFF ALD_PRESENCE_STATE_OFFLINE

static const Story stories[] = {
        { "retained is no life, and silence counts from when we listened",
                { { 0, KEPT_ONLINE, 1, 1, 5, 1, STALE }, { 29, WAIT, 0, 0, 0, 0, STALE },
                        { 30, WAIT, 0, 0, 0, 0, OFF } } },
        { "silence",
                { { 0, ALIVE, 1, 0, 0, 0, ON }, { 2.9, WAIT, 0, 0, 0, 0, ON }, { 3, WAIT, 0, 0, 0, 0, STALE },
                        { 29.9, WAIT, 0, 0, 0, 0, STALE }, { 30, WAIT, 0, 0, 0, 0, OFF },
                        { 60, WAIT, 0, 0, 0, 0, OFF }, { 61, ALIVE, 1, 0, 0, 0, ON } } },
        { "a will", { { 0, ONLINE, 1, 1, 5, 1, ON }, { 1, OFFLINE, 1, 1, 5, 1, OFF },
                            { 2, ONLINE, 1, 1, 5, 2, ON } } },
        { "a will from before the epoch was known",
                { { 0, ONLINE, 1, 1, 5, 3, ON }, { 1, OFFLINE, 1, 1, 0, 3, OFF } } },
        { "a will of an older connection is late",
                { { 0, ONLINE, 1, 1, 5, 2, ON }, { 1, OFFLINE, 1, 1, 5, 1, ON } } },
        { "a will of the instance before is late",
                { { 0, ONLINE, 1, 1, 5, 9, ON }, { 1, ONLINE, 1, 2, 5, 1, ON },
                        { 1.1, OFFLINE, 1, 1, 5, 9, ON } } },
        { "the standby is lost: it speaks through another broker",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 0, ONLINE, 2, 1, 5, 2, ON }, { 1, ALIVE, 1, 0, 0, 0, ON },
                        { 1.5, OFFLINE, 2, 1, 5, 2, ON }, { 2, ALIVE, 1, 0, 0, 0, ON },
                        { 4.9, WAIT, 0, 0, 0, 0, ON } } },
        { "the standby is lost, and then it is silent",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 1, OFFLINE, 2, 1, 5, 2, ON },
                        { 2.9, WAIT, 0, 0, 0, 0, ON }, { 3, WAIT, 0, 0, 0, 0, OFF } } },
        { "a crash seen by two brokers, the standby first",
                { { 0, ONLINE, 2, 1, 5, 2, ON }, { 1, ALIVE, 1, 0, 0, 0, ON },
                        { 1.5, OFFLINE, 2, 1, 5, 2, ON }, { 1.6, OFFLINE, 1, 1, 5, 1, OFF } } },
        { "the standby notices late that it was away",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 0, ONLINE, 2, 1, 5, 2, ON }, { 1, ALIVE, 1, 0, 0, 0, ON },
                        { 8, OFFLINE, 1, 1, 5, 1, OFF }, { 8.2, ONLINE, 1, 1, 5, 3, ON },
                        { 8.3, OFFLINE, 2, 1, 5, 2, ON }, { 11.1, WAIT, 0, 0, 0, 0, ON },
                        { 11.2, WAIT, 0, 0, 0, 0, STALE }, { 20, OFFLINE, 1, 1, 5, 3, OFF } } },
        { "it dies with the broker by which it spoke",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 0.1, ONLINE, 2, 1, 5, 2, ON },
                        { 1, ALIVE, 2, 0, 0, 0, ON }, { 8, OFFLINE, 1, 1, 5, 1, STALE },
                        { 10, BROKEN, 2, 0, 0, 0, OFF } } },
        { "offline is kept by the broker",
                { { 0, KEPT_OFFLINE, 1, 1, 5, 1, OFF }, { 1, ALIVE, 1, 0, 0, 0, ON } } },
        { "what a broker kept is older than life",
                { { 0, ONLINE, 1, 2, 5, 1, ON }, { 1, KEPT_OFFLINE, 2, 1, 4, 7, ON } } },
        { "kept by two brokers: the newer epoch holds",
                { { 0, KEPT_ONLINE, 1, 2, 6, 1, STALE }, { 0.1, KEPT_OFFLINE, 2, 1, 5, 7, STALE } } },
        { "we lose all brokers and find one",
                { { 0, ALIVE, 1, 0, 0, 0, ON }, { 1, LOST, 0, 0, 0, 0, ON }, { 2.9, WAIT, 0, 0, 0, 0, ON },
                        { 3, WAIT, 0, 0, 0, 0, STALE }, { 90, WAIT, 0, 0, 0, 0, STALE },
                        { 100, FOUND, 0, 0, 0, 0, STALE }, { 129, WAIT, 0, 0, 0, 0, STALE },
                        { 130, WAIT, 0, 0, 0, 0, OFF } } },
        { "we connect anew, as after a revocation",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 1, LOST, 0, 0, 0, 0, ON }, { 2, FOUND, 0, 0, 0, 0, ON },
                        { 2.5, KEPT_ONLINE, 1, 1, 5, 1, ON }, { 2.9, ALIVE, 1, 0, 0, 0, ON },
                        { 5, WAIT, 0, 0, 0, 0, ON } } },
        { "its connection ends, and then ours",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 1, OFFLINE, 1, 1, 5, 1, OFF },
                        { 2, LOST, 0, 0, 0, 0, OFF }, { 40, FOUND, 0, 0, 0, 0, OFF } } },
        { "who was offline stays so without brokers",
                { { 0, KEPT_OFFLINE, 1, 1, 5, 1, OFF }, { 1, LOST, 0, 0, 0, 0, OFF },
                        { 2, FOUND, 0, 0, 0, 0, OFF } } },
        { "two machines of one id",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 1, DUPLICATE, 1, 2, 6, 1, ALD_PRESENCE_STATE_DUPLICATE },
                        { 2, ALIVE, 1, 0, 0, 0, ALD_PRESENCE_STATE_DUPLICATE },
                        { 3, OFFLINE, 1, 2, 6, 1, ALD_PRESENCE_STATE_DUPLICATE },
                        { 60, WAIT, 0, 0, 0, 0, ALD_PRESENCE_STATE_DUPLICATE },
                        { 61, KEPT_ONLINE, 1, 2, 6, 1, ALD_PRESENCE_STATE_DUPLICATE },
                        { 62, ONLINE, 1, 3, 7, 1, ON } } },
        { "one broker alone has it that there are two machines",
                { { 0, ONLINE, 1, 1, 5, 1, ON }, { 0, ONLINE, 2, 1, 5, 2, ON }, { 1, ALIVE, 1, 0, 0, 0, ON },
                        { 1, DUPLICATE, 2, 9, 6, 1, ON }, { 2, ALIVE, 1, 0, 0, 0, ON },
                        { 5, WAIT, 0, 0, 0, 0, ALD_PRESENCE_STATE_DUPLICATE }, { 6, ALIVE, 1, 0, 0, 0, ON },
                        { 7, ALIVE, 2, 0, 0, 0, ON }, { 7.5, ONLINE, 1, 1, 5, 3, ON } } },
};

static void take(AldNodePresence *presence, const Step *step, uint64_t now)
{
        static const AldNodeStatusState states[] = { [ONLINE] = ALD_NODE_STATUS_STATE_ONLINE,
                [OFFLINE] = ALD_NODE_STATUS_STATE_OFFLINE,
                [DUPLICATE] = ALD_NODE_STATUS_STATE_DUPLICATE,
                [KEPT_ONLINE] = ALD_NODE_STATUS_STATE_ONLINE,
                [KEPT_OFFLINE] = ALD_NODE_STATUS_STATE_OFFLINE };

        if (step->what == WAIT || step->what == LOST || step->what == FOUND)
                return;
        if (step->what == BROKEN) {
                ald_presence_forget_broker(presence, step->broker);
                return;
        }
        if (step->what == ALIVE) {
                ald_presence_note_heard(presence, step->broker, now);
                return;
        }
        const AldNodeStatus status = {
                .state = ald_node_status_state_to_string(states[step->what]),
                .epoch = step->epoch,
                .connection = step->conn,
                .instance = ID_TEXT(step->instance),
        };
        ald_presence_take_status(presence, &status, step->what == KEPT_ONLINE || step->what == KEPT_OFFLINE,
                step->broker, now);
}

static void test_story(gconstpointer data)
{
        const Story *story = data;
        AldPresenceView view = { .connected_since = START };
        AldNodePresence presence;

        ald_presence_init(&presence, REAL_START);
        for (unsigned i = 0; i < STEPS_MAX; i++) {
                const Step *step = &story->steps[i];
                uint64_t now = START + (uint64_t) (step->at * SECOND), real = REAL_START + now;
                AldPresenceState before = presence.state;
                bool changed;

                if (i > 0 && step->at == 0 && step->what == WAIT)
                        break;
                if (step->what == LOST || step->what == FOUND)
                        view.connected_since = step->what == FOUND ? now : 0;
                take(&presence, step, now);
                changed = ald_presence_update(&presence, &view, now, real);
                g_test_message("step %u: %s", i, ald_presence_state_to_string(presence.state));
                g_assert_cmpint(presence.state, ==, step->state);
                g_assert_true(changed == (presence.state != before));
                if (changed)
                        g_assert_cmpuint(presence.since, ==, real);
                g_assert_cmpuint(ald_presence_due(&presence, &view), >, now);
        }
}

/* Who looks only when a change is due misses none. */
static void test_due(void)
{
        const AldPresenceView view = { .connected_since = START };
        AldNodePresence presence;
        uint64_t due;

        ald_presence_init(&presence, REAL_START);
        ald_presence_note_heard(&presence, 1, START);
        g_assert_true(ald_presence_update(&presence, &view, START, REAL_START));
        due = ald_presence_due(&presence, &view);
        g_assert_false(ald_presence_update(&presence, &view, due - 1, REAL_START));
        g_assert_true(ald_presence_update(&presence, &view, due, REAL_START));
        due = ald_presence_due(&presence, &view);
        g_assert_false(ald_presence_update(&presence, &view, due - 1, REAL_START));
        g_assert_true(ald_presence_update(&presence, &view, due, REAL_START));
        g_assert_cmpuint(ald_presence_due(&presence, &view), ==, UINT64_MAX);
}

/* Who listens to nothing but what nodes say of themselves now and then. */
static void test_by_status(void)
{
        const AldNodeStatus kept = { .state = "online", .epoch = 5, .connection = 1, .instance = ID_TEXT(1) };
        AldPresenceView view = { .connected_since = START, .by_status = true };
        AldNodePresence presence;
        uint64_t now = START;

        ald_presence_init(&presence, REAL_START);
        g_assert_true(ald_presence_take_status(&presence, &kept, false, 1, now));
        g_assert_true(ald_presence_update(&presence, &view, now, REAL_START));
        g_assert_cmpint(presence.state, ==, ON);

        /* Nobody could be heard while we were not connected, so who is there has the time to say so again. */
        view.connected_since = now += 10 * ALD_PRESENCE_TRUSTED_USEC;
        g_assert_false(ald_presence_update(&presence, &view, now, REAL_START));
        now = ald_presence_due(&presence, &view);
        g_assert_cmpuint(now, ==, view.connected_since + ALD_PRESENCE_TRUSTED_USEC);
        g_assert_false(ald_presence_update(&presence, &view, now - 1, REAL_START));
        g_assert_true(ald_presence_update(&presence, &view, now, REAL_START));
        g_assert_cmpint(presence.state, ==, OFF);
        g_assert_cmpuint(ald_presence_due(&presence, &view), ==, UINT64_MAX);

        g_assert_true(ald_presence_take_status(&presence, &kept, false, 1, now));
        g_assert_true(ald_presence_update(&presence, &view, now, REAL_START));
        g_assert_cmpint(presence.state, ==, ON);
}

static void test_old_status_says_nothing(void)
{
        AldNodeStatus status = { .state = "online", .epoch = 5, .connection = 2, .instance = ID_TEXT(1) };
        AldNodePresence presence;

        ald_presence_init(&presence, REAL_START);
        g_assert_true(ald_presence_take_status(&presence, &status, false, 1, START));
        status.connection = 1;
        g_assert_false(ald_presence_take_status(&presence, &status, false, 1, START));
        g_assert_true(ald_presence_take_status(&presence, &status, false, 2, START));
}

/* More brokers than are told apart: the one heard longest ago gives way. */
static void test_many_brokers(void)
{
        const AldPresenceView view = { .connected_since = START };
        const AldNodeStatus end = { .state = "offline", .epoch = 5, .connection = 1, .instance = ID_TEXT(1) };
        AldNodePresence presence;

        ald_presence_init(&presence, REAL_START);
        for (uint32_t broker = 1; broker <= 2 * ALD_PRESENCE_VIAS; broker++)
                ald_presence_note_heard(&presence, broker, START + broker);
        for (uint32_t broker = 1; broker < 2 * ALD_PRESENCE_VIAS; broker++)
                g_assert_true(ald_presence_take_status(&presence, &end, false, broker, START + 20));
        g_assert_true(ald_presence_take_status(&presence, &end, false, 2 * ALD_PRESENCE_VIAS, START + 20));
        ald_presence_update(&presence, &view, START + 20, REAL_START);
        g_assert_cmpint(presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
}

static void test_clock(void)
{
        AldNodePresence presence;

        ald_presence_init(&presence, REAL_START);
        g_assert_cmpint(ald_presence_clock_offset(&presence), ==, INT64_MIN);
        g_assert_cmpuint(ald_presence_lag(&presence), ==, UINT64_MAX);

        /* 7 s ahead, on the way for 1, 3 and 2 ms. */
        ald_presence_take_clock(&presence, REAL_START + 7 * SECOND, REAL_START + 1000);
        ald_presence_take_clock(&presence, REAL_START + 7 * SECOND, REAL_START + 3000);
        ald_presence_take_clock(&presence, REAL_START + 7 * SECOND, REAL_START + 2000);
        g_assert_cmpint(ald_presence_clock_offset(&presence), ==, 7 * SECOND - 1000);
        g_assert_cmpuint(ald_presence_lag(&presence), ==, 1000);

        /* A clock that was set back is believed once the old heartbeats are gone. */
        for (unsigned i = 0; i < ALD_PRESENCE_OFFSETS; i++)
                ald_presence_take_clock(&presence, REAL_START - SECOND, REAL_START);
        g_assert_cmpint(ald_presence_clock_offset(&presence), ==, -(int64_t) SECOND);
        /* So far, at once: no message is late by that much. */
        ald_presence_take_clock(&presence, REAL_START, REAL_START + 60 * SECOND);
        g_assert_cmpint(ald_presence_clock_offset(&presence), ==, -60 * (int64_t) SECOND);
        g_assert_cmpuint(ald_presence_lag(&presence), ==, 0);
        /* It is our own clock that was set, by which all is judged. */
        ald_presence_shift_clock(&presence, -60 * (int64_t) SECOND);
        g_assert_cmpint(ald_presence_clock_offset(&presence), ==, 0);
        ald_presence_take_clock(&presence, REAL_START, REAL_START);
        ald_presence_take_clock(&presence, 0, UINT64_C(1) << 53);
        g_assert_cmpint(ald_presence_clock_offset(&presence), ==, -(INT64_C(1) << 53));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        for (unsigned i = 0; i < G_N_ELEMENTS(stories); i++) {
                g_autofree char *path = g_strdup_printf("/presence/%s", stories[i].name);
                g_test_add_data_func(path, &stories[i], test_story);
        }
        g_test_add_func("/presence/due", test_due);
        g_test_add_func("/presence/by-status", test_by_status);
        g_test_add_func("/presence/old-status", test_old_status_says_nothing);
        g_test_add_func("/presence/many-brokers", test_many_brokers);
        g_test_add_func("/presence/clock", test_clock);
        return g_test_run();
}
