/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/payload.h"
#include "tests/unit/record-maker.h"

#define SINK "fedcba9876543210fedcba9876543210"

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
        check_record("{'epoch':5,'seq':-1,'updated':7,'fields':{}}", -ERANGE, "seq: beyond what it may be");
        check_record(deep, -EBADMSG, "deep");
}

static void test_too_large(void)
{
        AldId node = id_make(1);
        AldTopic topic = topic_make(ALD_KIND_MEMORY, &node, "");
        size_t n = ALD_PAYLOAD_RECORD_MAX + 1;
        g_autofree char *bytes = g_strnfill(n, ' ');
        AldUpdate update;
        AldStatus status;

        g_assert_cmpint(ald_payload_read_record(&topic, bytes, n, &update, NULL), ==, -E2BIG);
        g_assert_cmpint(ald_payload_read_status(bytes, ALD_PAYLOAD_SMALL_MAX + 1, &status, NULL), ==, -E2BIG);
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

/* Reasons are told on the bus, which carries nothing else; jansson cuts what it quotes anywhere. */
static void test_reasons_are_utf8(void)
{
        static const char *const bad[] = { "{\"\\u\302\233\"}", "{\"\\u\342\202\254", "\377", "\303" };

        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *why = NULL;
                AldStatus status;

                g_assert_cmpint(ald_payload_read_status(bad[i], strlen(bad[i]), &status, &why), ==, -EBADMSG);
                g_assert_true(g_utf8_validate(why, -1, NULL));
        }
}

static void test_status(void)
{
        static const char *const bad[] = { "{}", "{'state':'online'}",
                "{'state':'online','epoch':1,'conn':1}",
                "{'state':'away','epoch':1,'conn':1,'instance':'" SINK "'}",
                "{'state':'online','epoch':1,'conn':-1,'instance':'" SINK "'}",
                "{'state':'online','epoch':1,'conn':1,'instance':'" SINK "0'}",
                "{'state':'online','epoch':1,'conn':1,'instance':'" SINK "','boot':7}",
                "{'state':'online','epoch':1,'conn':1,'instance':'" SINK "','announced':'1'}" };
        const AldStatus statuses[] = {
                { ALD_PRESENCE_SAYS_ONLINE, 5, 1, id_make(7), id_make(8), 5, { { 0 } } },
                { ALD_PRESENCE_SAYS_OFFLINE, 0, 2, id_make(7), { { 0 } }, 0, { { 0 } } },
                { ALD_PRESENCE_SAYS_DUPLICATE, 5, 3, id_make(7), id_make(8), 0, id_make(9) },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *bytes = quote(bad[i]), *why = NULL;
                AldStatus status;

                g_assert_cmpint(ald_payload_read_status(bytes, strlen(bytes), &status, &why), <, 0);
                g_assert_nonnull(why);
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++) {
                g_autofree char *bytes = ald_payload_write_status(&statuses[i]), *bytes_again = NULL;
                AldStatus again;

                g_assert_cmpint(ald_payload_read_status(bytes, strlen(bytes), &again, NULL), ==, 0);
                bytes_again = ald_payload_write_status(&again);
                g_assert_cmpstr(bytes, ==, bytes_again);
        }
}

static void test_alive_and_forget(void)
{
        const AldAlive alive = { 1, 2, 3 };
        const AldForget forget = { { 1, 2 }, 3 };
        g_autofree char *alive_bytes = ald_payload_write_alive(&alive);
        g_autofree char *forget_bytes = ald_payload_write_forget(&forget);
        AldForget forget_again;
        AldAlive alive_again;

        g_assert_cmpint(ald_payload_read_alive(alive_bytes, strlen(alive_bytes), &alive_again, NULL), ==, 0);
        g_assert_cmpmem(&alive, sizeof alive, &alive_again, sizeof alive);
        g_assert_cmpint(
                ald_payload_read_forget(forget_bytes, strlen(forget_bytes), &forget_again, NULL), ==, 0);
        g_assert_cmpmem(&forget, sizeof forget, &forget_again, sizeof forget);
        g_assert_cmpint(ald_payload_read_alive("{}", 2, &alive_again, NULL), ==, -EBADMSG);
        forget_bytes[strlen("{\"epoch\":")] = '0';
        g_assert_cmpint(ald_payload_read_forget(forget_bytes, strlen(forget_bytes), &forget_again, NULL), ==,
                -ERANGE);
        g_assert_cmpint(ald_payload_read_forget("7", 1, &forget_again, NULL), ==, -EBADMSG);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-payload/bad-records", test_bad_records);
        g_test_add_func("/cluster-payload/too-large", test_too_large);
        g_test_add_func("/cluster-payload/links-of-others", test_links_of_others);
        g_test_add_func("/cluster-payload/any-record", test_any_record);
        g_test_add_func("/cluster-payload/status", test_status);
        g_test_add_func("/cluster-payload/reasons-are-utf8", test_reasons_are_utf8);
        g_test_add_func("/cluster-payload/alive-and-forget", test_alive_and_forget);
        return g_test_run();
}
