/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/rdma/preamble.h"
#include "tests/unit/rdma-sides.h"

/* Clients of the RDMA probe that have the right keys, and say or do what they should not. */

#define SIZE (64u << 10)
#define ALLOWED (UINT64_C(1) << 20) /* what the server may send and take */

static void say(AldTalk *talk, AldRdmaMessage message)
{
        g_assert_cmpint(ald_talk_say(talk, &message), ==, 0);
}

static AldRdmaMessage expect(AldTalk *talk, AldRdmaMessageType type)
{
        AldRdmaMessage message = {};

        g_assert_cmpint(ald_talk_expect(talk, type, &message), ==, 0);
        return message;
}

static void greet(RdmaSides *sides, AldTalk *talk)
{
        int stop = talk->channel.stop;

        talk->patience = 60 * ALD_NSEC_PER_SEC;
        g_assert_cmpint(ald_preamble_say(sides->client.fd, talk->failure), ==, 0);
        g_assert_cmpint(ald_channel_open(&talk->channel, sides->client.fd,
                                rdma_sides_keys(&sides->client, false), false, stop, talk->failure),
                ==, 0);
        say(talk, (AldRdmaMessage){ .type = ALD_RDMA_HELLO, .version = ALD_RDMA_PROTOCOL });
}

static AldRdmaMessage prepare(AldTalk *talk)
{
        AldRdmaMessage offer = expect(talk, ALD_RDMA_OFFER);
        AldPlanLimits limits;
        AldPlan plan;

        ald_port_limits(&talk->port, &limits);
        g_assert_true(ald_plan_make(&limits, ALD_RDMA_WRITE, SIZE, 1, &plan));
        g_assert_cmpint(ald_pair_open(&talk->port, &plan, NULL, &talk->pair, talk->failure), ==, 0);
        talk->own_gid = talk->port.gids.gids[0];
        talk->peer_gid = offer.gids.gids[0];
        talk->has_gid = true;
        return (AldRdmaMessage){ .type = ALD_RDMA_USE,
                .size = SIZE,
                .msec = offer.msec,
                .limit = INT64_MAX,
                .gids = { { talk->own_gid, talk->peer_gid }, 2 },
                .end = talk->pair.own };
}

static void connect_both(RdmaSides *sides, AldTalk *talk)
{
        AldRdmaMessage ready;

        greet(sides, talk);
        say(talk, prepare(talk));
        ready = expect(talk, ALD_RDMA_READY);
        g_assert_cmpint(ald_pair_take_peer(&talk->pair, &ready.end, talk->failure), ==, 0);
        g_assert_cmpint(ald_talk_connect(talk), ==, 0);
}

static void ask_for(AldTalk *talk, AldRdmaPhase phase)
{
        say(talk, (AldRdmaMessage){ .type = ALD_RDMA_PHASE, .phase = phase });
}

static void begin(RdmaSides *sides, AldTalk *talk, AldRdmaPhase phase)
{
        connect_both(sides, talk);
        ask_for(talk, phase);
        expect(talk, ALD_RDMA_GO);
}

/* Takes what comes until the server has had enough of it. */
static void take_all(AldTalk *talk)
{
        AldRdmaMessage message;
        int r = 0;

        while (r == 0) {
                g_assert_cmpint(ald_pair_received(&talk->pair, SIZE, NULL, talk->failure), >=, 0);
                r = ald_talk_look(talk, UINT64_MAX, &message);
        }
        g_assert_cmpint(r, <, 0);
}

static void never_enough(RdmaSides *sides, AldTalk *talk)
{
        begin(sides, talk, ALD_RDMA_DOWNLOAD);
        take_all(talk);
}

static void the_same_again(RdmaSides *sides, AldTalk *talk)
{
        begin(sides, talk, ALD_RDMA_READ);
        ask_for(talk, ALD_RDMA_READ);
}

static void back_again(RdmaSides *sides, AldTalk *talk)
{
        begin(sides, talk, ALD_RDMA_READ);
        ask_for(talk, ALD_RDMA_PING);
}

static void another_amount(RdmaSides *sides, AldTalk *talk)
{
        AldRdmaMessage stop;
        int r = 0;

        begin(sides, talk, ALD_RDMA_UPLOAD);
        while (r == 0) {
                g_assert_cmpint(ald_pair_fill(&talk->pair, talk->failure), >=, 0);
                g_assert_cmpint(ald_pair_sent(&talk->pair, talk->failure), >=, 0);
                r = ald_talk_look(talk, UINT64_MAX, &stop);
        }
        g_assert_cmpint(stop.type, ==, ALD_RDMA_STOP);
        say(talk, (AldRdmaMessage){ .type = ALD_RDMA_DRAINED, .bytes = 1 });
}

static void out_of_turn(RdmaSides *sides, AldTalk *talk)
{
        begin(sides, talk, ALD_RDMA_UPLOAD);
        say(talk, (AldRdmaMessage){ .type = ALD_RDMA_GO });
}

static void no_message(RdmaSides *sides, AldTalk *talk)
{
        greet(sides, talk);
        expect(talk, ALD_RDMA_OFFER);
        g_assert_cmpint(ald_channel_send_text(&talk->channel, "{\"type\":\"sing\"}"), ==, 0);
}

static void no_room(RdmaSides *sides, AldTalk *talk)
{
        AldRdmaMessage use;

        greet(sides, talk);
        use = prepare(talk);
        use.end.depth = 0;
        say(talk, use);
}

/* As it may be that an address went away between the offer and the choice. */
static void no_such_gid(RdmaSides *sides, AldTalk *talk)
{
        AldRdmaMessage use;

        greet(sides, talk);
        use = prepare(talk);
        use.gids.gids[1].index = 7;
        say(talk, use);
}

typedef struct Lie {
        const char *path;
        void (*tell)(RdmaSides *sides, AldTalk *talk);
        AldFailureKind kind;
} Lie;

static const Lie lies[] = {
        { "/rdma/liars/never-enough", never_enough, ALD_FAILURE_TIMEOUT },
        { "/rdma/liars/the-same-again", the_same_again, ALD_FAILURE_PROTOCOL },
        { "/rdma/liars/back-again", back_again, ALD_FAILURE_PROTOCOL },
        { "/rdma/liars/another-amount", another_amount, ALD_FAILURE_PROTOCOL },
        { "/rdma/liars/out-of-turn", out_of_turn, ALD_FAILURE_PROTOCOL },
        { "/rdma/liars/no-message", no_message, ALD_FAILURE_PROTOCOL },
        { "/rdma/liars/no-room", no_room, ALD_FAILURE_PROTOCOL },
        { "/rdma/liars/no-such-gid", no_such_gid, ALD_FAILURE_NO_GID },
};

/* The liar stays until the server has told why it ends. */
static void lie(RdmaSides *sides, AldTalk *talk)
{
        const Lie *one = NULL;
        AldRdmaMessage message;

        for (size_t i = 0; i < G_N_ELEMENTS(lies); i++)
                if (g_str_equal(lies[i].path, g_test_get_path()))
                        one = &lies[i];
        one->tell(sides, talk);
        while (!talk->failure->message)
                (void) ald_talk_expect(talk, ALD_RDMA_ABORT, &message);
}

/* What is under way beyond that: 128 messages, and those that are looked at together. */
static void test_lie(RdmaSides *sides, gconstpointer userdata)
{
        const Lie *one = userdata;

        sides->measure = lie;
        sides->server.options.link.bytes_max = ALLOWED;
        rdma_sides_run(sides, &(FakeFaults){});
        rdma_side_assert_fails(&sides->server, one->kind);
        rdma_side_assert_fails(&sides->client, one->kind);
        g_assert_cmpuint(sides->server.served.sent, <=, ALLOWED + (128 + 2 * ALD_PAIR_BATCH) * SIZE);
        g_assert_cmpint(sides->server.served.sent >= ALLOWED, ==, one->tell == never_enough);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        (void) signal(SIGPIPE, SIG_IGN);
        for (size_t i = 0; i < G_N_ELEMENTS(lies); i++)
                g_test_add(
                        lies[i].path, RdmaSides, &lies[i], rdma_sides_set_up, test_lie, rdma_sides_tear_down);
        return g_test_run();
}
