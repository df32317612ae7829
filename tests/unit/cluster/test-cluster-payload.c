/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/peers/payload.h"
#include "tests/unit/record-maker.h"

#define SINK "fedcba9876543210fedcba9876543210"
#define STATUS(state, connection, instance) \
        "{'State':'" state "','Epoch':1,'Connection':" connection ",'Instance':'" instance "'"

static AldTopic topic_make(AldKind kind, const AldId *node, const char *key)
{
        AldTopic topic = { .type = ALD_TOPIC_RECORD, .node = *node, .kind = kind };

        g_strlcpy(topic.key, key, sizeof topic.key);
        return topic;
}

/* With ' for ". */
static char *quote(const char *text)
{
        return g_strdelimit(g_strdup(text), "'", '"');
}

static void check_record(const char *text, int expected, const char *reason)
{
        AldId node = id_make(1);
        AldTopic topic = topic_make(ALD_KIND_MEMORY, &node, "");
        g_autofree char *bytes = quote(text), *why = NULL;
        AldUpdate update = { 0 };
        g_autoptr(AldRecord) record = NULL;

        g_test_message("%.120s", text);
        g_assert_cmpint(ald_payload_read_record(&topic, bytes, strlen(bytes), &update, &why), ==, expected);
        record = update.record;
        if (expected < 0)
                g_assert_nonnull(strstr(why, reason));
        else
                g_assert_null(why);
}

static void test_bad_records(void)
{
        g_autofree char *brackets = g_strnfill(100000, '['), *deep = g_strconcat("{'newer':", brackets, NULL);

        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{}}", 0, NULL);
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'Newer':[1]},'newer':{}}", 0, NULL);
        check_record("{'epoch':5,'seq':6,'updated':7,'deleted':true}", 0, NULL);
        check_record("{'epoch':5,'seq':6,'updated':7,'deleted':true,'fields':7}", 0, NULL);
        check_record("", -EBADMSG, "");
        check_record("no JSON", -EBADMSG, "");
        check_record("[]", -EBADMSG, "");
        check_record("{'epoch':5,'seq':6,'updated':7}", -EBADMSG, "fields");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':[]}", -EBADMSG, "fields");
        check_record("{'epoch':5,'seq':6,'updated':7,'deleted':1,'fields':{}}", -EBADMSG, "deleted");
        check_record("{'seq':6,'updated':7,'fields':{}}", -EBADMSG, "epoch");
        check_record("{'epoch':5.0,'seq':6,'updated':7,'fields':{}}", 0, NULL);
        check_record("{'epoch':5.5,'seq':6,'updated':7,'fields':{}}", -EBADMSG, "epoch");
        check_record("{'epoch':5,'seq':-1,'updated':7,'fields':{}}", -ERANGE, "seq");
        check_record("{'epoch':5,'seq':6,'updated':9007199254740993,'fields':{}}", -ERANGE, "updated");
        check_record("{'epoch':5,'seq':6,'updated':99999999999999999999,'fields':{}}", -EBADMSG, "big");
        check_record("{'epoch':5,'epoch':5,'seq':6,'updated':7,'fields':{}}", -EBADMSG, "duplicate");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'TotalBytes':'7'}}", -EBADMSG, "TotalBytes");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'TotalBytes':-7}}", -ERANGE, "TotalBytes");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'PressureSome10':NaN}}", -EBADMSG, "");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'PressureSome10':1e999}}", -EBADMSG, "");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'PressureSome10':null}}", -EBADMSG,
                "PressureSome10");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'\\u0000':1}}", -EBADMSG, "NUL");
        check_record("{'epoch':5,'seq':6,'updated':7,'fields':{'Newer':'\\u0000'}}", -EBADMSG,
                "a NUL in a string");
        check_record("{'epoch':5,'seq':-1,'updated':7,'fields':{}}", -ERANGE, "seq: out of range");
        check_record(deep, -EBADMSG, "deep");
}

static void test_too_large(void)
{
        AldId node = id_make(1);
        AldTopic topic = topic_make(ALD_KIND_MEMORY, &node, "");
        size_t n = ALD_PAYLOAD_RECORD_MAX + 1;
        g_autofree char *bytes = g_strnfill(n, ' ');
        g_autoptr(AldRecord) status = NULL;
        AldUpdate update;

        g_assert_cmpint(ald_payload_read_record(&topic, bytes, n, &update, NULL), ==, -E2BIG);
        g_assert_cmpint(ald_message_parse(ALD_KIND_NODE_STATUS, bytes, ALD_PAYLOAD_SMALL_MAX + 1,
                                ALD_PAYLOAD_SMALL_MAX, &status, NULL),
                ==, -E2BIG);
}

/* A link is of the node and the key that the topic names. */
static void test_links_of_others(void)
{
        AldId node = id_make(1), other = id_make(2), sink;
        AldTopic topic = topic_make(ALD_KIND_LINK_SOCKET, &node, SINK ",192.0.2.1");
        AldUpdate update = { .kind = ALD_KIND_LINK_SOCKET, .key = topic.key, .stamp = { 5, 6 } };
        g_autofree char *bytes = NULL;

        ald_id_parse(SINK, &sink);
        update.record = record_random_for(ALD_KIND_LINK_SOCKET, &other, topic.key);
        bytes = ald_payload_write_record(&update);
        ald_record_unref(update.record);
        g_assert_cmpint(ald_payload_read_record(&topic, bytes, strlen(bytes), &update, NULL), ==, -EINVAL);
        topic.node = other;
        g_assert_cmpint(ald_payload_read_record(&topic, bytes, strlen(bytes), &update, NULL), ==, 0);
        ald_record_unref(update.record);
}

/* Whatever a record holds comes over as it is. */
static void test_any_record(void)
{
        AldId node = id_make(1), sink = id_make(2);

        for (unsigned i = 0; i < 3000; i++) {
                AldKind kind = (AldKind) g_test_rand_int_range(0, ALD_N_KINDS);
                g_autofree char *key = ald_kinds[kind].is_link ? key_make(kind, &sink, 1 + i % 200)
                                                               : g_strdup("");
                AldTopic topic = topic_make(kind, &node, key);
                g_autoptr(AldRecord) record = record_random_for(kind, &node, key);
                g_autoptr(AldRecord) read = NULL;
                AldUpdate update = { node, kind, key, { i, i + 1 }, i + 2, record }, again;
                g_autofree char *bytes = ald_payload_write_record(&update);

                g_assert_cmpint(ald_payload_read_record(&topic, bytes, strlen(bytes), &again, NULL), ==, 0);
                read = again.record;
                g_assert_cmpuint(again.stamp.epoch, ==, i);
                g_assert_cmpuint(again.stamp.seq, ==, i + 1);
                g_assert_cmpuint(again.updated_usec, ==, i + 2);
                g_assert_cmpint(ald_record_compare(record, read), ==, 0);
        }
}

static int read_message(AldKind kind, const char *text, char **ret_again)
{
        g_autofree char *bytes = quote(text), *shown = g_strescape(text, NULL), *why = NULL;
        g_autoptr(AldRecord) message = NULL;
        int r = ald_message_parse(kind, bytes, strlen(bytes), ALD_PAYLOAD_SMALL_MAX, &message, &why);

        g_test_message("%s: %s", shown, why ?: "fine");
        g_assert_true((r < 0) == (why != NULL));
        /* Reasons are sent over the bus, which takes only UTF-8; jansson cuts what it quotes anywhere. */
        g_assert_true(!why || g_utf8_validate(why, -1, NULL));
        if (r >= 0 && ret_again)
                *ret_again = g_strdelimit(ald_message_format(kind, ald_record_fields(message)), "\"", '\'');
        return r;
}

static void test_bad_messages(void)
{
        static const struct {
                AldKind kind;
                const char *text;
                int error;
        } bad[] = {
                { ALD_KIND_NODE_STATUS, "", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "[]", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "\377", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "\303", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "{'\\u\302\233'}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "{'\\u\342\202\254", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "{}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "{'State':'online'}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "{'State':'online','Epoch':1,'Connection':1}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, "{'Epoch':1,'Connection':1,'Instance':'" SINK "'}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, STATUS("away", "1", SINK) "}", -ERANGE },
                { ALD_KIND_NODE_STATUS, STATUS("online", "-1", SINK) "}", -ERANGE },
                { ALD_KIND_NODE_STATUS, STATUS("online", "1.5", SINK) "}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, STATUS("online", "9007199254740993", SINK) "}", -ERANGE },
                { ALD_KIND_NODE_STATUS, STATUS("online", "1", SINK "0") "}", -ERANGE },
                { ALD_KIND_NODE_STATUS, STATUS("online", "1", "me") "}", -ERANGE },
                { ALD_KIND_NODE_STATUS, STATUS("online", "1", SINK) ",'Boot':7}", -EBADMSG },
                { ALD_KIND_NODE_STATUS, STATUS("online", "1", SINK) ",'Other':'none'}", -ERANGE },
                { ALD_KIND_NODE_STATUS, STATUS("online", "1", SINK) ",'AnnouncedEpoch':'1'}", -EBADMSG },
                { ALD_KIND_NODE_ALIVE, "{}", -EBADMSG },
                { ALD_KIND_NODE_ALIVE, "{'SentUSec':'now','Epoch':1,'Connection':1}", -EBADMSG },
                { ALD_KIND_NODE_ALIVE, "{'SentUSec':1e300,'Epoch':1,'Connection':1}", -ERANGE },
                { ALD_KIND_NODE_ALIVE, "{'SentUSec':1,'Epoch':1}", -EBADMSG },
                { ALD_KIND_NODE_FORGET, "7", -EBADMSG },
                { ALD_KIND_NODE_FORGET, "{'Epoch':1,'Sequence':1}", -EBADMSG },
                { ALD_KIND_NODE_FORGET, "{'Epoch':0,'Sequence':1,'SentUSec':1}", -ERANGE },
                { ALD_KIND_NODE_FORGET, "{'Epoch':1,'Sequence':-1,'SentUSec':1}", -ERANGE },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_cmpint(read_message(bad[i].kind, bad[i].text, NULL), ==, bad[i].error);
}

/* What other versions add is skipped; all else comes back as it was written. */
static void test_messages(void)
{
        static const struct {
                AldKind kind;
                const char *text;
        } good[] = {
                { ALD_KIND_NODE_STATUS, STATUS("offline", "0", SINK) "}" },
                { ALD_KIND_NODE_STATUS,
                        STATUS("duplicate", "9007199254740992",
                                SINK) ",'Boot':'" SINK "','AnnouncedEpoch':5,'Other':'" SINK "'}" },
                { ALD_KIND_NODE_ALIVE, "{'SentUSec':1,'Epoch':0,'Connection':3}" },
                { ALD_KIND_NODE_ALIVE, "{'SentUSec':1,'Epoch':0,'Connection':3,'Records':14}" },
                { ALD_KIND_NODE_FORGET, "{'Epoch':1,'Sequence':9007199254740992,'SentUSec':3}" },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autofree char *newer = g_strdup_printf("{'Newer':[{}],%s", good[i].text + 1);
                g_autofree char *again = NULL, *still = NULL;

                g_assert_cmpint(read_message(good[i].kind, good[i].text, &again), ==, 0);
                g_assert_cmpstr(again, ==, good[i].text);
                g_assert_cmpint(read_message(good[i].kind, newer, &still), ==, 0);
                g_assert_cmpstr(still, ==, good[i].text);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-payload/bad-records", test_bad_records);
        g_test_add_func("/cluster-payload/too-large", test_too_large);
        g_test_add_func("/cluster-payload/links-of-others", test_links_of_others);
        g_test_add_func("/cluster-payload/any-record", test_any_record);
        g_test_add_func("/cluster-payload/bad-messages", test_bad_messages);
        g_test_add_func("/cluster-payload/messages", test_messages);
        return g_test_run();
}
