/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/failure.h"
#include "probes/common/frame.h"
#include "probes/socket/message.h"
#include "probes/socket/options.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static void read_back(const AldMessage *message, AldMessage *ret)
{
        g_autofree char *text = ald_message_write(message);
        const char *key = NULL;

        g_assert_cmpint(ald_message_read(text, strlen(text), ret, &key), ==, 0);
        g_assert_cmpint(ret->type, ==, message->type);
}

static void test_round_trip(void)
{
        AldMessage verdict = { .type = ALD_MESSAGE_VERDICT,
                .bits_per_second = 123456789,
                .mean = 120000000,
                .interval = 1000,
                .nsec = 1100000000,
                .bytes = UINT64_C(1) << 53,
                .bins = 16,
                .streams = 8,
                .limiter = ALD_LIMITER_SENDER,
                .spread = { true, 0 },
                .text = "nothing arrived",
                .effort = { 1, 2, 3, 4, 5, 6, 7 } };
        AldMessage tokens = { .type = ALD_MESSAGE_TOKENS, .n_tokens = 2, .tokens = { TOKEN, TOKEN } };
        AldMessage begin = { .type = ALD_MESSAGE_BEGIN, .purpose = ALD_PURPOSE_DOWNLOAD, .msec = 1400 };
        AldMessage again = {};

        read_back(&verdict, &again);
        g_assert_cmpuint(again.bits_per_second, ==, verdict.bits_per_second);
        g_assert_cmpuint(again.bytes, ==, verdict.bytes);
        g_assert_cmpuint(again.limiter, ==, ALD_LIMITER_SENDER);
        g_assert_true(again.spread.known && again.spread.value == 0 && !again.other.known);
        g_assert_cmpstr(again.text, ==, "nothing arrived");
        g_assert_cmpmem(&again.effort, sizeof again.effort, &verdict.effort, sizeof verdict.effort);
        verdict.spread.value = 1000000000;
        read_back(&verdict, &again);
        g_assert_true(again.spread.known && again.spread.value == 1000000000);
        verdict.spread.value = 1000000001;
        read_back(&verdict, &again);
        g_assert_false(again.spread.known);
        read_back(&tokens, &again);
        g_assert_cmpuint(again.n_tokens, ==, 2);
        g_assert_cmpstr(again.tokens[1], ==, TOKEN);
        read_back(&begin, &again);
        g_assert_cmpuint(again.purpose, ==, ALD_PURPOSE_DOWNLOAD);
        for (unsigned type = 0; type < _ALD_MESSAGE_MAX; type++) {
                AldMessage plain = { .type = type, .n_tokens = 1, .tokens = { TOKEN } };

                read_back(&plain, &again);
        }
}

/* What another says goes to terminals and logs. */
static void test_text_is_printable(void)
{
        AldMessage message = { .type = ALD_MESSAGE_ABORT, .reason = ALD_FAILURE_LIMIT }, again;
        static const char odd[] =
                "{\"type\":\"abort\",\"reason\":\"busy\",\"text\":\"a\\u001b[2J\\nb\\u202ec\"}";

        memset(message.text, 'x', sizeof message.text - 1);
        memcpy(message.text, "é\t", 3);
        read_back(&message, &again);
        g_assert_true(g_str_has_prefix(again.text, "é?x"));
        g_assert_cmpuint(strlen(again.text), ==, sizeof message.text - 1);
        g_assert_cmpint(ald_message_read(odd, sizeof odd - 1, &again, NULL), ==, 0);
        g_assert_cmpstr(again.text, ==, "a?[2J?b\?\?\?c");
        g_assert_cmpuint(again.reason, ==, ALD_FAILURE_BUSY);
}

static void test_bad(void)
{
        static const struct {
                const char *text;
                int code;
                const char *key;
        } cases[] = {
                { "", -EBADMSG, NULL },
                { "null", -EBADMSG, NULL },
                { "[1]", -EBADMSG, "type" },
                { "{\"type\":\"bye\"} x", -EBADMSG, NULL },
                { "{\"type\":\"bye\",\"type\":\"bye\"}", -EBADMSG, NULL },
                { "{\"type\":\"by\"}", -EBADMSG, "type" },
                { "{\"type\":7}", -EBADMSG, "type" },
                { "{\"type\":\"open\",\"count\":1}", -EBADMSG, "purpose" },
                { "{\"type\":\"open\",\"count\":1,\"purpose\":\"theft\"}", -ERANGE, "purpose" },
                { "{\"type\":\"open\",\"count\":1.0,\"purpose\":\"rtt\"}", -EBADMSG, "count" },
                { "{\"type\":\"open\",\"count\":-1,\"purpose\":\"rtt\"}", -ERANGE, "count" },
                { "{\"type\":\"open\",\"count\":9,\"purpose\":\"rtt\"}", -ERANGE, "count" },
                { "{\"type\":\"tokens\",\"tokens\":[]}", -ERANGE, "tokens" },
                { "{\"type\":\"tokens\",\"tokens\":[\"short\"]}", -ERANGE, "tokens" },
                { "{\"type\":\"tokens\",\"tokens\":[\"0123456789ABCDEF0123456789ABCDEF\"]}", -ERANGE,
                        "tokens" },
                { "{\"type\":\"tokens\",\"tokens\":[1]}", -EBADMSG, "tokens" },
                { "{\"type\":\"bye\",\"x\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", -EBADMSG, NULL },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldMessage message = { .type = ALD_MESSAGE_SENT };
                const char *key = NULL;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(ald_message_read(cases[i].text, strlen(cases[i].text), &message, &key), ==,
                        cases[i].code);
                g_assert_cmpstr(key, ==, cases[i].key);
                g_assert_cmpint(message.type, ==, ALD_MESSAGE_SENT);
        }
}

/* What came with a revision may be missing, and is unknown then. */
static void test_older_peer(void)
{
        static const char text[] = "{\"type\":\"welcome\",\"version\":1,\"port\":7462,\"streams\":8,"
                                   "\"msec\":5000,\"bytes\":1000}";
        static const char odd[] = "{\"type\":\"welcome\",\"version\":1,\"port\":7462,\"streams\":8,"
                                  "\"msec\":5000,\"bytes\":1000,\"interface\":\"eth0/../lo\"}";
        AldMessage message = { .type = ALD_MESSAGE_WELCOME, .revision = { true, 1 }, .interface = "wlp3s0" };
        AldMessage again;
        const char *key;

        read_back(&message, &again);
        g_assert_true(again.revision.known && again.revision.value == 1);
        g_assert_cmpstr(again.interface, ==, "wlp3s0");
        g_assert_cmpint(ald_message_read(text, sizeof text - 1, &again, NULL), ==, 0);
        g_assert_false(again.revision.known);
        g_assert_cmpstr(again.interface, ==, "");
        g_assert_cmpint(ald_message_read(odd, sizeof odd - 1, &again, &key), ==, -ERANGE);
        g_assert_cmpstr(key, ==, "interface");
        /* A name that would be refused is not sent. */
        memcpy(message.interface, "a b", 4);
        read_back(&message, &again);
        g_assert_cmpstr(again.interface, ==, "");
}

/* A client says what it wants; one that does not is one by hand that measures all. */
static void test_wanted(void)
{
        static const char older[] = "{\"type\":\"open\",\"purpose\":\"rtt\",\"count\":1}";
        static const char newer[] = "{\"type\":\"open\",\"purpose\":\"rtt\",\"count\":1,"
                                    "\"scope\":\"half\",\"automatic\":1}";
        static const char odd[] = "{\"type\":\"open\",\"purpose\":\"rtt\",\"count\":1,\"scope\":1}";
        const AldMessage check = { .type = ALD_MESSAGE_OPEN,
                .count = 1,
                .scope = { true, ALD_PROBE_CHECK },
                .automatic = { true, 1 } };
        AldMessage again;
        const char *key;

        read_back(&check, &again);
        g_assert_true(again.scope.known && again.scope.value == ALD_PROBE_CHECK);
        g_assert_true(again.automatic.known && again.automatic.value == 1);
        g_assert_false(again.overdue.known);
        g_assert_cmpint(ald_message_read(older, sizeof older - 1, &again, NULL), ==, 0);
        g_assert_false(again.scope.known || again.automatic.known || again.overdue.known);
        g_assert_cmpint(ald_message_read(newer, sizeof newer - 1, &again, NULL), ==, 0);
        g_assert_false(again.scope.known);
        g_assert_true(again.automatic.known);
        g_assert_cmpint(ald_message_read(odd, sizeof odd - 1, &again, &key), ==, -EBADMSG);
        g_assert_cmpstr(key, ==, "scope");
}

static void test_newer_peer(void)
{
        static const char text[] = "{\"type\":\"bye\",\"mood\":{\"good\":true}}";
        AldMessage message;

        g_assert_cmpint(ald_message_read(text, sizeof text - 1, &message, NULL), ==, 0);
}

static void feed(AldFrameReader *reader, const void *bytes, size_t n)
{
        size_t room;
        uint8_t *end = ald_frame_room(reader, &room);

        g_assert_cmpuint(room, >=, n);
        memcpy(end, bytes, n);
        ald_frame_added(reader, n);
}

static void test_frames(void)
{
        AldFrameReader reader = {};
        uint8_t header[ALD_FRAME_HEADER];
        const char *bytes;
        size_t n;

        ald_frame_header(3, header);
        for (unsigned i = 0; i < ALD_FRAME_HEADER; i++) {
                g_assert_cmpint(ald_frame_peek(&reader, &bytes, &n), ==, 0);
                feed(&reader, header + i, 1);
        }
        feed(&reader, "ab", 2);
        g_assert_cmpint(ald_frame_peek(&reader, &bytes, &n), ==, 0);
        feed(&reader, "c\0\0\0\1d", 6);
        g_assert_cmpint(ald_frame_peek(&reader, &bytes, &n), ==, 1);
        g_assert_cmpmem(bytes, n, "abc", 3);
        ald_frame_drop(&reader);
        g_assert_cmpint(ald_frame_peek(&reader, &bytes, &n), ==, 1);
        g_assert_cmpmem(bytes, n, "d", 1);
        ald_frame_drop(&reader);
        g_assert_cmpint(ald_frame_peek(&reader, &bytes, &n), ==, 0);
}

static void test_frame_limits(void)
{
        static const size_t sizes[] = { 0, ALD_FRAME_MAX + 1, 0x16030100, SIZE_MAX };
        uint8_t header[ALD_FRAME_HEADER], payload[ALD_FRAME_MAX] = {};
        AldFrameReader longest = {};
        const char *bytes;
        size_t n;

        for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
                AldFrameReader reader = {};

                ald_frame_header(sizes[i], header);
                feed(&reader, header, sizeof header);
                g_assert_cmpint(ald_frame_peek(&reader, &bytes, &n), ==, -EMSGSIZE);
        }
        ald_frame_header(ALD_FRAME_MAX, header);
        feed(&longest, header, sizeof header);
        feed(&longest, payload, sizeof payload);
        g_assert_cmpint(ald_frame_peek(&longest, &bytes, &n), ==, 1);
        g_assert_cmpuint(n, ==, ALD_FRAME_MAX);
}

/* The longest message fits into a frame. */
static void test_sizes(void)
{
        AldMessage message = { .type = ALD_MESSAGE_MORE, .n_tokens = ALD_MESSAGE_TOKENS_MAX };
        g_autofree char *more = NULL, *abort = NULL;

        for (unsigned i = 0; i < ALD_MESSAGE_TOKENS_MAX; i++)
                memcpy(message.tokens[i], TOKEN, sizeof TOKEN);
        more = ald_message_write(&message);
        g_assert_cmpuint(strlen(more), <=, ALD_FRAME_MAX);
        message = (AldMessage){ .type = ALD_MESSAGE_ABORT };
        memset(message.text, '"', sizeof message.text - 1);
        abort = ald_message_write(&message);
        g_assert_cmpuint(strlen(abort), <=, ALD_FRAME_MAX);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/message/round-trip", test_round_trip);
        g_test_add_func("/probe/message/printable", test_text_is_printable);
        g_test_add_func("/probe/message/bad", test_bad);
        g_test_add_func("/probe/message/older-peer", test_older_peer);
        g_test_add_func("/probe/message/newer-peer", test_newer_peer);
        g_test_add_func("/probe/message/wanted", test_wanted);
        g_test_add_func("/probe/message/sizes", test_sizes);
        g_test_add_func("/probe/frame/parts", test_frames);
        g_test_add_func("/probe/frame/limits", test_frame_limits);
        return g_test_run();
}
