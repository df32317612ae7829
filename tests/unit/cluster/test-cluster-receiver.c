/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/peers/receiver.h"
#include "tests/unit/log-count.h"
#include "tests/unit/record-maker.h"

#define SECOND UINT64_C(1000000)
#define HOUR (UINT64_C(3600) * SECOND)
#define START (UINT64_C(1000) * SECOND)
#define REAL (UINT64_C(1700000000) * SECOND)
#define FORGED_SEQ 99
#define OLD_MEMORY "{\"epoch\":1,\"seq\":1,\"updated\":1,\"fields\":{\"TotalBytes\":7}}"
#define IDENTITY "{\"epoch\":5,\"seq\":1,\"updated\":1,\"fields\":{\"FriendlyName\":\"ada\"}}"
#define MEMORY "{\"epoch\":%u,\"seq\":%u,\"updated\":%" G_GUINT64_FORMAT ",\"fields\":{\"TotalBytes\":7}}"

typedef struct Fixture {
        AldReceiver *receiver;
        uint64_t now, real, due;
        unsigned n_records, n_presences, n_dropped, n_forgotten, n_missed, n_crls, n_own_records,
                n_own_statuses, n_own_forgets;
        AldStamp last;
        AldClusterNode *told;
} Fixture;

static void on_record(const AldUpdate *update, void *userdata)
{
        Fixture *fixture = userdata;

        fixture->n_records++;
        fixture->last = update->stamp;
}

static void on_presence(AldClusterNode *node, void *userdata)
{
        Fixture *fixture = userdata;

        fixture->n_presences++;
        fixture->told = node;
}

static void on_dropped(const AldId *id, void *userdata)
{
        ((Fixture *) userdata)->n_dropped++;
}

static void on_forgotten(AldClusterNode *node, void *userdata)
{
        ((Fixture *) userdata)->n_forgotten++;
}

static void on_missed(AldClusterNode *node, void *userdata)
{
        ((Fixture *) userdata)->n_missed++;
}

static char *on_crl(const AldId *node, const AldReceived *received, void *userdata)
{
        ((Fixture *) userdata)->n_crls++;
        return g_strdup("not signed");
}

static char *on_own_record(const AldUpdate *update, const AldReceived *received, void *userdata)
{
        ((Fixture *) userdata)->n_own_records++;
        return update->stamp.seq == FORGED_SEQ ? g_strdup("forged") : NULL;
}

static void on_own_status(const AldNodeStatus *status, const AldReceived *received, void *userdata)
{
        ((Fixture *) userdata)->n_own_statuses++;
}

static void on_own_forget(const AldId *target, const AldNodeForget *forget, void *userdata)
{
        ((Fixture *) userdata)->n_own_forgets++;
}

static void on_due(uint64_t usec, void *userdata)
{
        ((Fixture *) userdata)->due = usec;
}

static const AldReceiverHandler handler = { on_record, on_presence, on_dropped, on_forgotten, on_missed,
        on_crl, on_own_record, on_own_status, on_own_forget, on_due };

static void set_up(Fixture *fixture, gconstpointer unused)
{
        AldId own = id_make(1);

        fixture->now = START;
        fixture->real = REAL;
        fixture->receiver = ald_receiver_new(&own, "home", &handler, fixture);
        ald_receiver_set_expiry(fixture->receiver, 24 * HOUR);
        fixture->due = UINT64_MAX;
        ald_receiver_set_connected(fixture->receiver, true, START, REAL);
        log_count_reset();
}

static void tear_down(Fixture *fixture, gconstpointer unused)
{
        ald_receiver_free(fixture->receiver);
}

static void update_presences(Fixture *fixture)
{
        fixture->due = UINT64_MAX;
        ald_receiver_update_presences(fixture->receiver, fixture->now, fixture->real);
}

/* Updates presences whenever that is due, as the timer does. */
static void pass(Fixture *fixture, uint64_t usec)
{
        uint64_t end = fixture->now + usec;

        while (fixture->due <= end) {
                fixture->now = MAX(fixture->now, fixture->due);
                update_presences(fixture);
        }
        fixture->now = end;
}

static void take(Fixture *fixture, unsigned node, const char *rest, const char *payload, bool retained)
{
        AldId id = id_make(node);
        char text[ALD_ID_STRING_SIZE];
        g_autofree char *topic = g_strdup_printf("alidade/1/home/%s/%s", ald_id_format(&id, text), rest);
        const AldReceived received = { 1, 1, topic, payload, strlen(payload), retained };

        ald_receiver_take(fixture->receiver, &received, fixture->now, fixture->real);
}

static void take_memory(Fixture *fixture, unsigned node, unsigned epoch, unsigned seq, bool retained)
{
        g_autofree char *payload = g_strdup_printf(MEMORY, epoch, seq, fixture->real);

        take(fixture, node, "Node1.Memory", payload, retained);
}

static void take_status_of(Fixture *fixture, unsigned node, unsigned instance, AldNodeStatusState state,
        uint64_t epoch, uint64_t announced, bool retained)
{
        const AldNodeStatus status = {
                .state = ald_node_status_state_to_string(state),
                .epoch = epoch,
                .connection = 1,
                .instance = ID_TEXT(instance),
                .announced_epoch = announced == 0 ? ALD_ABSENT_UINT64 : announced,
        };
        g_autofree char *payload = ald_message_format(ALD_KIND_NODE_STATUS, &status);

        take(fixture, node, "status", payload, retained);
}

static void take_status(
        Fixture *fixture, unsigned node, AldNodeStatusState state, uint64_t announced, bool retained)
{
        take_status_of(fixture, node, 7, state, 5, announced, retained);
}

static void take_epoch(Fixture *fixture, AldNodeStatusState state, uint64_t epoch, bool retained)
{
        take_status_of(fixture, 2, 7, state, epoch, 0, retained);
}

static void take_forget(Fixture *fixture, unsigned forgetter, unsigned target, AldStamp stamp)
{
        const AldNodeForget forget = {
                .epoch = stamp.epoch, .sequence = stamp.seq, .sent_usec = fixture->real
        };
        g_autofree char *payload = ald_message_format(ALD_KIND_NODE_FORGET, &forget);
        g_autofree char *rest = g_strdup_printf("forget/%s", ID_TEXT(target));

        take(fixture, forgetter, rest, payload, true);
}

static AldClusterNode *node_of(Fixture *fixture, unsigned node)
{
        AldId id = id_make(node);

        return ald_nodes_find(ald_receiver_nodes(fixture->receiver), &id);
}

static gboolean count_node(AldClusterNode *node, void *userdata)
{
        ++*(unsigned *) userdata;
        return FALSE;
}

static unsigned count_nodes(AldNodes *nodes)
{
        unsigned n = 0;

        ald_nodes_foreach(nodes, count_node, &n);
        return n;
}

static void test_records_and_presence(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 2, 5, 1, true);
        g_assert_cmpuint(fixture->n_records, ==, 1);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_STALE);
        g_assert_cmpuint(fixture->n_presences, ==, 1);
        ald_node_note_sent(fixture->told);
        take_memory(fixture, 2, 5, 2, false);
        g_assert_cmpuint(fixture->last.seq, ==, 2);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_ONLINE);
        g_assert_cmpuint(fixture->n_presences, ==, 2);
        ald_node_note_sent(fixture->told);
        take_memory(fixture, 2, 5, 3, false);
        g_assert_cmpuint(fixture->n_presences, ==, 2);

        g_assert_cmpuint(fixture->due, ==, START + 3 * SECOND);
        pass(fixture, 3 * SECOND);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_STALE);
        g_assert_cmpuint(fixture->n_presences, ==, 3);
        ald_node_note_sent(fixture->told);
        pass(fixture, 27 * SECOND - 1);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_STALE);
        pass(fixture, 1);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
        g_assert_cmpuint(fixture->n_presences, ==, 4);
        g_assert_cmpuint(fixture->due, ==, UINT64_MAX);
}

static void test_refusals(Fixture *fixture, gconstpointer unused)
{
        g_autofree char *large = g_strnfill(ALD_PAYLOAD_SMALL_MAX + 1, ' ');
        static const char *const bad[][2] = { { "Node1.Memory", "no JSON" }, { "Node1.Memory", "{}" },
                { "Nothing", "{}" }, { "Node1.Presence", "{}" }, { "Node1.Memory/x", "{}" },
                { "status", "[]" }, { "alive", "{}" }, { "forget/x", "{}" }, { "crl", "x" } };
        unsigned n = G_N_ELEMENTS(bad);

        for (unsigned i = 0; i < n; i++) {
                take(fixture, 2, bad[i][0], bad[i][1], false);
                g_assert_cmpuint(node_of(fixture, 2)->refused, ==, i + 1);
                g_assert_nonnull(node_of(fixture, 2)->problem);
        }
        take(fixture, 2, "status", large, false);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, n + 1);
        /* A topic that is cleared says nothing. */
        take(fixture, 2, "Node1.Memory", "", true);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, n + 1);
        g_assert_cmpuint(fixture->n_records, ==, 0);
        g_assert_cmpuint(log_count("Refused"), ==, 1);
        /* Who sends rubbish lives. */
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_ONLINE);
}

/* A record that one node measured of another is taken; that of a link to itself is refused and counted. */
static void test_links_to_itself(Fixture *fixture, gconstpointer unused)
{
        AldId node = id_make(2);

        for (unsigned n = 3; n >= 2; n--) {
                AldId sink = id_make(n);
                g_autofree char *key = key_make(ALD_KIND_LINK_SOCKET, &sink, 1);
                g_autofree char *topic = ald_topic_of_record("home", &node, ALD_KIND_LINK_SOCKET, key);
                g_autofree char *payload = g_strdup_printf(
                        "{\"epoch\":5,\"seq\":1,\"updated\":%" G_GUINT64_FORMAT
                        ",\"fields\":{\"Source\":\"%s\",\"Sink\":\"%s\"}}",
                        fixture->real, ID_TEXT(2), ID_TEXT(n));
                const AldReceived received = { 1, 1, topic, payload, strlen(payload), false };

                ald_receiver_take(fixture->receiver, &received, fixture->now, fixture->real);
                g_assert_cmpuint(fixture->n_records, ==, 1);
                g_assert_cmpuint(node_of(fixture, 2)->refused, ==, n == 2);
        }
        g_assert_nonnull(strstr(node_of(fixture, 2)->problem, "Source or Sink"));
}

/* A newer version has more of them. */
static void test_unknown_kinds(Fixture *fixture, gconstpointer unused)
{
        take(fixture, 2, "Node1.Nothing", "{}", false);
        take(fixture, 2, "Link2.Nothing/key", "rubbish", true);
        g_assert_cmpuint(node_of(fixture, 2)->unknown_kinds, ==, 2);
        g_assert_cmpuint(node_of(fixture, 2)->refused, ==, 0);
        g_assert_null(node_of(fixture, 2)->problem);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, 0);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_ONLINE);
        /* What only this machine says of others is none of them. */
        take(fixture, 2, "Node1.Presence", "{}", false);
        g_assert_cmpuint(node_of(fixture, 2)->refused, ==, 1);
}

static void test_flood(Fixture *fixture, gconstpointer unused)
{
        for (unsigned i = 1; i <= ALD_NODE_BURST + 100; i++)
                take_memory(fixture, 2, 5, i, false);
        g_assert_cmpuint(fixture->n_records, ==, ALD_NODE_BURST);
        g_assert_cmpuint(node_of(fixture, 2)->refused, ==, 100);
        g_assert_cmpstr(node_of(fixture, 2)->problem, ==, "more than 512 messages per second, or 524 kB/s");
        take_memory(fixture, 3, 5, 1, false);
        g_assert_cmpuint(fixture->n_records, ==, ALD_NODE_BURST + 1);
        fixture->now += SECOND;
        for (unsigned i = 0; i < 2 * ALD_NODE_RATE; i++)
                take_memory(fixture, 2, 6, i, false);
        g_assert_cmpuint(fixture->n_records, ==, ALD_NODE_BURST + 1 + ALD_NODE_RATE);
}

static void test_many_links(Fixture *fixture, gconstpointer unused)
{
        AldId node = id_make(2), sink = id_make(3);

        for (unsigned i = 0; i < ALD_NODE_LINKS_MAX + 50; i++) {
                g_autofree char *key = key_make(ALD_KIND_LINK_RDMA, &sink, i);
                g_autofree char *topic = NULL, *payload = NULL;

                topic = ald_topic_of_record("home", &node, ALD_KIND_LINK_RDMA, key);
                payload = g_strdup_printf("{\"epoch\":5,\"seq\":%u,\"updated\":%" G_GUINT64_FORMAT
                                          ",\"deleted\":true}",
                        i, REAL);
                const AldReceived received = { 1, 1, topic, payload, strlen(payload), true };
                ald_receiver_take(fixture->receiver, &received, fixture->now, fixture->real);
        }
        g_assert_cmpuint(fixture->n_records, ==, ALD_NODE_LINKS_MAX);
        g_assert_cmpuint(node_of(fixture, 2)->refused, ==, 50);
}

/* What a node left that is long gone does not rise again; what one sends that is there is taken, whatever its
 * clock says. */
static void test_ghosts(Fixture *fixture, gconstpointer unused)
{
        g_autofree char *old = g_strdup_printf(MEMORY, 5, 1, REAL - 25 * HOUR);

        take(fixture, 2, "Node1.Memory", old, true);
        g_assert_cmpuint(fixture->n_records, ==, 0);
        take(fixture, 2, "Node1.Memory", old, false);
        g_assert_cmpuint(fixture->n_records, ==, 1);
}

static void test_announced(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 2, 4, 1, true);
        take_status(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 5, true);
        g_assert_cmpuint(node_of(fixture, 2)->announced, ==, 5);
        take_memory(fixture, 2, 4, 9, true);
        g_assert_cmpuint(fixture->n_records, ==, 1);
        take_memory(fixture, 2, 5, 1, true);
        g_assert_cmpuint(fixture->n_records, ==, 2);
}

/* The epoch that a node is at goes back only by its own live word; a broker may have kept an older one. */
static void test_epoch_of_a_node(Fixture *fixture, gconstpointer unused)
{
        take_epoch(fixture, ALD_NODE_STATUS_STATE_ONLINE, 5, true);
        g_assert_cmpuint(node_of(fixture, 2)->epoch, ==, 5);
        take_epoch(fixture, ALD_NODE_STATUS_STATE_ONLINE, 7, true);
        take_epoch(fixture, ALD_NODE_STATUS_STATE_ONLINE, 6, true);
        g_assert_cmpuint(node_of(fixture, 2)->epoch, ==, 7);
        g_assert_cmpuint(node_of(fixture, 2)->reported_epoch, ==, 0);
        ald_node_note_sent(node_of(fixture, 2));
        take_epoch(fixture, ALD_NODE_STATUS_STATE_ONLINE, 4, false);
        g_assert_cmpuint(node_of(fixture, 2)->epoch, ==, 4);
        g_assert_true(node_of(fixture, 2)->changed);
        take_epoch(fixture, ALD_NODE_STATUS_STATE_OFFLINE, 9, false);
        g_assert_cmpuint(node_of(fixture, 2)->epoch, ==, 4);
}

static void take_instance(Fixture *fixture, unsigned instance, uint64_t announced, bool retained)
{
        take_status_of(fixture, 2, instance, ALD_NODE_STATUS_STATE_ONLINE, REAL, announced, retained);
}

/* Whoever has its key makes up an instance; the node's own one says what it has announced, also where that is
 * less. */
static void test_announced_by_another_instance(Fixture *fixture, gconstpointer unused)
{
        take_instance(fixture, 7, REAL, false);
        take_instance(fixture, 8, REAL + 20 * HOUR, false);
        g_assert_cmpuint(node_of(fixture, 2)->announced, ==, REAL + 20 * HOUR);
        take_instance(fixture, 7, REAL, false);
        g_assert_cmpuint(node_of(fixture, 2)->announced, ==, REAL);
        take_instance(fixture, 8, REAL + 20 * HOUR, true);
        g_assert_cmpuint(node_of(fixture, 2)->announced, ==, REAL);
}

static void take_record_of(Fixture *fixture, unsigned node, uint64_t epoch, uint64_t updated)
{
        g_autofree char *payload = g_strdup_printf("{\"epoch\":%" G_GUINT64_FORMAT
                                                   ",\"seq\":9007199254740992,\"updated\":%" G_GUINT64_FORMAT
                                                   ",\"fields\":{}}",
                epoch, updated);

        take(fixture, node, "Node1.Memory", payload, false);
}

static void test_times_of_the_future(Fixture *fixture, gconstpointer unused)
{
        const uint64_t absurd = UINT64_C(1) << 53;

        take_instance(fixture, 7, absurd, false);
        g_assert_cmpuint(node_of(fixture, 2)->announced, ==, 0);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_ONLINE);
        take_record_of(fixture, 2, absurd, REAL);
        take_record_of(fixture, 2, REAL, REAL + 25 * HOUR);
        take_record_of(fixture, 2, REAL + 25 * HOUR, REAL);
        g_assert_cmpuint(fixture->n_records, ==, 0);
        g_assert_cmpuint(node_of(fixture, 2)->refused, ==, 4);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, 4);
        g_assert_nonnull(strstr(node_of(fixture, 2)->problem, "more than a day in the future"));
        take_record_of(fixture, 2, REAL + 23 * HOUR, REAL + 23 * HOUR);
        g_assert_cmpuint(fixture->n_records, ==, 1);
}

static void take_alive(Fixture *fixture, unsigned node, uint64_t ahead)
{
        const AldNodeAlive alive = { .sent_usec = fixture->real + ahead, .epoch = 1, .connection = 1 };
        g_autofree char *payload = ald_message_format(ALD_KIND_NODE_ALIVE, &alive);

        take(fixture, node, "alive", payload, false);
}

/* Our own clock is a month behind: nothing is refused for good. */
static void test_own_clock_behind(Fixture *fixture, gconstpointer unused)
{
        const uint64_t month = 30 * 24 * HOUR;

        take_record_of(fixture, 2, REAL + month, REAL + month);
        take_alive(fixture, 2, month);
        g_assert_cmpuint(fixture->n_records, ==, 0);
        g_assert_cmpuint(fixture->n_missed, ==, 0);
        /* One other node alone may be wrong. */
        take_alive(fixture, 3, month);
        fixture->now += 2 * SECOND;
        fixture->real += 2 * SECOND;
        take_alive(fixture, 2, month);
        take_alive(fixture, 2, month);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        take_record_of(fixture, 2, REAL + month, REAL + month);
        g_assert_cmpuint(fixture->n_records, ==, 1);
}

/* It is set in the end. Until then nobody is accused. */
static void test_own_clock_is_set(Fixture *fixture, gconstpointer unused)
{
        fixture->real = 1;
        take_record_of(fixture, 2, REAL, REAL);
        take_alive(fixture, 2, REAL);
        g_assert_cmpuint(fixture->n_records, ==, 0);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, 0);
        fixture->real = REAL;
        take_alive(fixture, 2, 0);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        take_record_of(fixture, 2, REAL, REAL);
        g_assert_cmpuint(fixture->n_records, ==, 1);
}

/* A duplicate may be forgotten once it is silent; that this service hears nobody does not count as silence.
 */
static void test_forgetting_a_duplicate(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 2, 5, 7, false);
        take_status(fixture, 2, ALD_NODE_STATUS_STATE_DUPLICATE, 0, false);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_DUPLICATE);
        ald_receiver_set_connected(fixture->receiver, false, fixture->now, fixture->real);
        pass(fixture, 31 * SECOND);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_DUPLICATE);
        g_assert_false(ald_receiver_may_forget(fixture->receiver, node_of(fixture, 2), fixture->now));
        ald_receiver_set_connected(fixture->receiver, true, fixture->now, fixture->real);
        pass(fixture, 29 * SECOND);
        g_assert_false(ald_receiver_may_forget(fixture->receiver, node_of(fixture, 2), fixture->now));
        pass(fixture, 2 * SECOND);
        g_assert_true(ald_receiver_may_forget(fixture->receiver, node_of(fixture, 2), fixture->now));
}

/* Four seconds of silence are no reason to forget a node; that it is offline is one, whenever that comes. */
static void test_forgetting_who_is_silent(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 2, 5, 7, false);
        pass(fixture, 4 * SECOND);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_STALE);
        g_assert_false(ald_receiver_may_forget(fixture->receiver, node_of(fixture, 2), fixture->now));
        take_forget(fixture, 3, 2, (AldStamp){ 5, 7 });
        g_assert_false(node_of(fixture, 2)->is_forgotten);
        /* It speaks, and the word is void. */
        take_memory(fixture, 2, 5, 7, false);
        pass(fixture, 31 * SECOND);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
        g_assert_false(node_of(fixture, 2)->is_forgotten);

        take_memory(fixture, 2, 5, 7, false);
        pass(fixture, 4 * SECOND);
        take_forget(fixture, 3, 2, (AldStamp){ 5, 7 });
        g_assert_false(node_of(fixture, 2)->is_forgotten);
        pass(fixture, 30 * SECOND);
        g_assert_true(node_of(fixture, 2)->is_forgotten);

        /* What was hidden is asked for with its first word. */
        g_assert_cmpuint(fixture->n_missed, ==, 0);
        take(fixture, 2, "alive", "{}", false);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
}

static void test_forgetting(Fixture *fixture, gconstpointer unused)
{
        /* Not while it is online. */
        take_memory(fixture, 2, 5, 7, false);
        take_forget(fixture, 3, 2, (AldStamp){ 5, 7 });
        g_assert_false(node_of(fixture, 2)->is_forgotten);

        take_status(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 0, false);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
        take_forget(fixture, 3, 2, (AldStamp){ 5, 6 });
        g_assert_false(node_of(fixture, 2)->is_forgotten);
        take_forget(fixture, 3, 2, (AldStamp){ 5, 7 });
        g_assert_true(node_of(fixture, 2)->is_forgotten);
        g_assert_cmpuint(fixture->n_forgotten, ==, 1);

        /* Said again, it is the same; what was forgotten is not seen. */
        take_forget(fixture, 3, 2, (AldStamp){ 5, 7 });
        g_assert_cmpuint(fixture->n_forgotten, ==, 1);
        take_memory(fixture, 2, 5, 7, true);
        g_assert_cmpuint(fixture->n_records, ==, 1);
        take_memory(fixture, 2, 5, 8, true);
        g_assert_cmpuint(fixture->n_records, ==, 2);
        g_assert_false(node_of(fixture, 2)->is_forgotten);

        /* It speaks. */
        take_forget(fixture, 3, 2, (AldStamp){ 5, 8 });
        g_assert_true(node_of(fixture, 2)->is_forgotten);
        g_assert_cmpuint(fixture->n_missed, ==, 0);
        take_memory(fixture, 2, 5, 8, false);
        g_assert_false(node_of(fixture, 2)->is_forgotten);
        g_assert_cmpuint(fixture->n_records, ==, 3);
        /* Of what was left out before, once. */
        take_memory(fixture, 2, 5, 9, false);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
}

/* Dead, an old record, alive again: nobody makes the others ask as often as it likes. */
static void test_asking_again_is_bounded(Fixture *fixture, gconstpointer unused)
{
        const uint64_t end = START + 100 * SECOND;

        for (; fixture->now < end; fixture->now += SECOND / 2) {
                take_status(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 0, false);
                take(fixture, 2, "Node1.Memory", OLD_MEMORY, true);
                take(fixture, 2, "alive", "{}", false);
        }
        g_assert_cmpuint(fixture->n_missed, ==, 10);
        /* Another node does not wait for that one. */
        take_status(fixture, 3, ALD_NODE_STATUS_STATE_OFFLINE, 0, false);
        take(fixture, 3, "Node1.Memory", OLD_MEMORY, true);
        take(fixture, 3, "alive", "{}", false);
        g_assert_cmpuint(fixture->n_missed, ==, 11);
}

static void take_count(Fixture *fixture, uint64_t records)
{
        const AldNodeAlive alive = {
                .sent_usec = fixture->real, .epoch = 5, .connection = 1, .records = records
        };
        g_autofree char *payload = ald_message_format(ALD_KIND_NODE_ALIVE, &alive);

        take(fixture, 2, "alive", payload, false);
}

/* Heartbeats that state this number, for so many seconds. */
static void take_counts(Fixture *fixture, uint64_t records, unsigned seconds)
{
        const uint64_t end = fixture->now + seconds * SECOND;

        for (; fixture->now < end; fixture->now += 10 * SECOND)
                take_count(fixture, records);
}

/* A broker drops what does not fit into our queue. */
static void test_a_gap_is_asked_for(Fixture *fixture, gconstpointer unused)
{
        take_count(fixture, 0);
        take(fixture, 2, "Node1.Identity", IDENTITY, true);
        take(fixture, 2, "Node9.Unknown", "{}", true);
        take_counts(fixture, 2, 600);
        g_assert_cmpuint(fixture->n_missed, ==, 0);
        take_counts(fixture, 3, 30);
        g_assert_cmpuint(fixture->n_missed, ==, 0);
        take_count(fixture, 3);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        /* It arrives, and one more is published. */
        take(fixture, 2, "Node1.Memory", OLD_MEMORY, true);
        take_counts(fixture, 3, 600);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        /* Some never arrive. They are asked for after 30, 60, 120, … seconds, and then every 64 minutes. */
        take_counts(fixture, 4, 4 * 3600);
        g_assert_cmpuint(fixture->n_missed, >=, 8);
        g_assert_cmpuint(fixture->n_missed, <=, 11);
}

static void test_a_gap_counts_from_the_last_request(Fixture *fixture, gconstpointer unused)
{
        take_count(fixture, 0);
        take(fixture, 2, "Node1.Identity", IDENTITY, true);
        take(fixture, 2, "Node1.Memory", OLD_MEMORY, true);
        ald_receiver_expect_all(fixture->receiver);
        take(fixture, 2, "Node1.Identity", IDENTITY, true);
        take_counts(fixture, 2, 40);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        /* A topic that was cleared is no longer there, and what still comes is waited for. */
        take(fixture, 2, "Node1.Memory", OLD_MEMORY, true);
        take(fixture, 2, "Node1.Memory", "", true);
        take_counts(fixture, 1, 100);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        take_counts(fixture, 9, 30);
        take(fixture, 2, "Node1.Memory", OLD_MEMORY, true);
        take_counts(fixture, 9, 30);
        g_assert_cmpuint(fixture->n_missed, ==, 1);
        take_count(fixture, 9);
        g_assert_cmpuint(fixture->n_missed, ==, 2);
}

/* Without all records, their number says nothing. */
static void test_no_gap_without_mirroring(Fixture *fixture, gconstpointer unused)
{
        ald_receiver_set_mirroring(fixture->receiver, false, fixture->now, fixture->real);
        take_counts(fixture, 9, 600);
        g_assert_cmpuint(fixture->n_missed, ==, 0);
}

static void test_forgetting_is_bounded(Fixture *fixture, gconstpointer unused)
{
        for (unsigned i = 10; i < ALD_NODE_LINKS_MAX + 60; i++)
                take_forget(fixture, 2, i, (AldStamp){ 5, 7 });
        g_assert_cmpuint(count_nodes(ald_receiver_nodes(fixture->receiver)), ==, ALD_NODE_LINKS_MAX + 1);
        g_assert_cmpuint(node_of(fixture, 2)->refused, ==, 50);
        /* Nor do several of them fill the list of nodes; who is there has room in it. */
        for (unsigned i = 0; i < 100; i++)
                take_forget(fixture, 3, 100000 + i, (AldStamp){ 5, 7 });
        g_assert_cmpuint(count_nodes(ald_receiver_nodes(fixture->receiver)), ==, ALD_NODES_HEARSAY_MAX + 2);
        take(fixture, 10, "alive", "{}", false);
        take_forget(fixture, 3, 100000, (AldStamp){ 5, 7 });
        take_forget(fixture, 3, 100001, (AldStamp){ 5, 7 });
        g_assert_nonnull(node_of(fixture, 100000));
        g_assert_null(node_of(fixture, 100001));
        /* Nobody makes us forget ourselves. */
        take_forget(fixture, 3, 1, (AldStamp){ 5, 7 });
        g_assert_null(node_of(fixture, 1));
}

static void test_own(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 1, 5, 1, true);
        take_status(fixture, 1, ALD_NODE_STATUS_STATE_ONLINE, 0, false);
        take_forget(fixture, 1, 2, (AldStamp){ 5, 1 });
        take(fixture, 1, "alive", "{}", false);
        g_assert_cmpuint(ald_receiver_refused_own(fixture->receiver), ==, 0);
        take_memory(fixture, 1, 5, FORGED_SEQ, false);
        g_assert_cmpuint(ald_receiver_refused_own(fixture->receiver), ==, 1);
        g_assert_cmpuint(fixture->n_own_records, ==, 2);
        g_assert_cmpuint(fixture->n_own_statuses, ==, 1);
        g_assert_cmpuint(fixture->n_own_forgets, ==, 1);
        g_assert_cmpuint(fixture->n_records, ==, 0);
        g_assert_null(node_of(fixture, 1));
}

/* The state service is new, and hears of all again. */
static void test_tell_all(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 2, 5, 1, false);
        take_memory(fixture, 3, 5, 1, true);
        ald_node_note_sent(node_of(fixture, 2));
        ald_node_note_sent(node_of(fixture, 3));
        fixture->n_presences = 0;
        ald_receiver_report_all_again(fixture->receiver);
        g_assert_cmpuint(fixture->n_presences, ==, 2);
}

static void test_nodes_go_in_the_end(Fixture *fixture, gconstpointer unused)
{
        take_memory(fixture, 2, 5, 1, false);
        take_memory(fixture, 3, 5, 1, true);
        pass(fixture, 25 * HOUR);
        take_memory(fixture, 2, 5, 2, false);
        ald_receiver_expire(fixture->receiver, fixture->now);
        g_assert_nonnull(node_of(fixture, 2));
        g_assert_null(node_of(fixture, 3));
}

/* A minute passes of which this process has nothing: it was stopped. */
static void stop(Fixture *fixture)
{
        fixture->now += 60 * SECOND;
}

static void assert_none_offline(Fixture *fixture)
{
        for (unsigned node = 2; node <= 3; node++)
                g_assert_cmpint(node_of(fixture, node)->presence.state, !=, ALD_PRESENCE_STATE_OFFLINE);
}

static void update_late(Fixture *fixture)
{
        update_presences(fixture);
}

static void take_retained_late(Fixture *fixture)
{
        take_memory(fixture, 2, 5, 2, true);
        take_status(fixture, 3, ALD_NODE_STATUS_STATE_ONLINE, 0, true);
}

static void take_forget_late(Fixture *fixture)
{
        take_forget(fixture, 4, 2, (AldStamp){ 5, 1 });
}

static void forget_late(Fixture *fixture)
{
        AldId id = id_make(2);

        ald_receiver_forget(fixture->receiver, &id, &(AldStamp){ 5, 1 }, fixture->now, fixture->real);
}

static void lose_late(Fixture *fixture)
{
        ald_receiver_lose(fixture->receiver, 1, fixture->now, fixture->real);
        ald_receiver_set_connected(fixture->receiver, false, fixture->now, fixture->real);
        ald_receiver_set_connected(fixture->receiver, true, fixture->now, fixture->real);
}

static void mirror_late(Fixture *fixture)
{
        ald_receiver_set_mirroring(fixture->receiver, true, fixture->now, fixture->real);
}

/* Whatever the loop comes to first, the timer, what waited, or a connection that ended: it did not listen, so
 * nobody was silent. */
static void test_being_stopped(Fixture *fixture, gconstpointer unused)
{
        static void (*const first[])(Fixture * fixture) = { update_late, take_retained_late, take_forget_late,
                forget_late, lose_late, mirror_late };

        for (unsigned i = 0; i < G_N_ELEMENTS(first); i++) {
                take_memory(fixture, 2, 5, 1, false);
                take_memory(fixture, 3, 5, 1, false);
                pass(fixture, i % 2 * 20 * SECOND); /* as online, and as stale */
                stop(fixture);
                first[i](fixture);
                assert_none_offline(fixture);
                update_presences(fixture);
                pass(fixture, 29 * SECOND);
                assert_none_offline(fixture);
                g_assert_false(node_of(fixture, 2)->is_forgotten);
                pass(fixture, 2 * SECOND);
                g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
                g_assert_cmpint(node_of(fixture, 3)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
        }
}

#define ADD(name) g_test_add("/cluster-receiver/" #name, Fixture, NULL, set_up, test_##name, tear_down)

static void test_not_hearing_others(Fixture *fixture, gconstpointer unused)
{
        g_autofree char *large = g_strnfill(ALD_PAYLOAD_CRL_MAX + 1, ' ');

        take_memory(fixture, 2, 5, 1, false);
        ald_receiver_set_mirroring(fixture->receiver, false, fixture->now, fixture->real);
        g_assert_cmpuint(fixture->n_dropped, ==, 1);
        take_memory(fixture, 2, 5, 2, false);
        take(fixture, 2, "Node1.Nothing", "{}", false);
        take(fixture, 2, "alive", "{}", false);
        g_assert_cmpuint(count_nodes(ald_receiver_nodes(fixture->receiver)), ==, 0);
        g_assert_cmpuint(fixture->n_records, ==, 1);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, 0);

        take(fixture, 2, "crl", "x", false);
        g_assert_cmpuint(fixture->n_crls, ==, 1);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, 1);
        take(fixture, 2, "crl", large, false);
        g_assert_cmpuint(fixture->n_crls, ==, 1);
        g_assert_cmpuint(ald_receiver_refused(fixture->receiver), ==, 2);
        take_status(fixture, 1, ALD_NODE_STATUS_STATE_ONLINE, 0, false);
        g_assert_cmpuint(fixture->n_own_statuses, ==, 1);

        ald_receiver_set_mirroring(fixture->receiver, true, fixture->now, fixture->real);
        take_memory(fixture, 2, 5, 2, false);
        g_assert_cmpuint(fixture->n_records, ==, 2);
}

/* What a broker keeps tells who is there, but not for ever: a node may have died with it. */
static void test_peers_of_links(Fixture *fixture, gconstpointer unused)
{
        AldNodes *nodes = ald_receiver_nodes(fixture->receiver);

        ald_receiver_set_mirroring(fixture->receiver, false, fixture->now, fixture->real);
        take_status(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 0, true);
        take_status(fixture, 3, ALD_NODE_STATUS_STATE_OFFLINE, 0, true);
        take(fixture, 2, "Node1.Identity", IDENTITY, true);
        take_memory(fixture, 2, 5, 1, true);
        g_assert_cmpuint(fixture->n_records, ==, 1);
        take_status(fixture, 4, ALD_NODE_STATUS_STATE_ONLINE, 0, true);
        pass(fixture, ALD_PRESENCE_REPEAT_USEC);
        take_status(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 0, false);
        g_assert_cmpuint(fixture->due, ==, START + ALD_PRESENCE_TRUSTED_USEC);
        pass(fixture, fixture->due - fixture->now - 1);
        g_assert_cmpint(node_of(fixture, 4)->presence.state, ==, ALD_PRESENCE_STATE_ONLINE);
        pass(fixture, 1);
        g_assert_cmpint(node_of(fixture, 2)->presence.state, ==, ALD_PRESENCE_STATE_ONLINE);
        g_assert_cmpint(node_of(fixture, 3)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);
        g_assert_cmpint(node_of(fixture, 4)->presence.state, ==, ALD_PRESENCE_STATE_OFFLINE);

        fixture->now += 25 * HOUR;
        ald_receiver_expire(fixture->receiver, fixture->now);
        g_assert_nonnull(node_of(fixture, 2));
        g_assert_cmpuint(count_nodes(nodes), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        ADD(records_and_presence);
        ADD(refusals);
        ADD(links_to_itself);
        ADD(unknown_kinds);
        ADD(flood);
        ADD(many_links);
        ADD(ghosts);
        ADD(announced);
        ADD(epoch_of_a_node);
        ADD(announced_by_another_instance);
        ADD(times_of_the_future);
        ADD(own_clock_behind);
        ADD(own_clock_is_set);
        ADD(forgetting_a_duplicate);
        ADD(forgetting_who_is_silent);
        ADD(forgetting);
        ADD(asking_again_is_bounded);
        ADD(a_gap_is_asked_for);
        ADD(a_gap_counts_from_the_last_request);
        ADD(no_gap_without_mirroring);
        ADD(forgetting_is_bounded);
        ADD(own);
        ADD(tell_all);
        ADD(nodes_go_in_the_end);
        ADD(being_stopped);
        ADD(not_hearing_others);
        ADD(peers_of_links);
        return g_test_run();
}
