/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/evaluator.h"
#include "probes/common/frame.h"
#include "probes/socket/transfer/protocol.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define WELCOME "\"Version\":2,\"StreamsMax\":8,\"DurationMaxMSec\":5000,\"BytesMax\":1000"
#define BEGIN "\"Direction\":\"upload\",\"BytesMax\":1000,\"MinRttNSec\":0"
#define EFFORT "\"Spare\":1900,\"Standing\":2000"
#define VERDICT "\"MeanBitsPerSecond\":0,\"Bytes\":1,\"DurationNSec\":1"

static AldRecord *read_message(const char *text)
{
        g_autofree char *reason = NULL;
        AldRecord *record = NULL;

        if (ald_protocol_parse(&ald_socket_protocol, text, strlen(text), &record, &reason) < 0)
                g_error("%s: %s", text, reason);
        return record;
}

static AldRecord *read_back(AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format_named(kind, fields);
        AldRecord *record = read_message(text);

        g_assert_cmpint(record->kind, ==, kind);
        return record;
}

static void check_refused(const char *text, int error, const char *word)
{
        g_autofree char *reason = NULL;
        AldRecord *record = NULL;

        g_test_message("%.200s", text);
        g_assert_cmpint(
                ald_protocol_parse(&ald_socket_protocol, text, strlen(text), &record, &reason), ==, error);
        g_assert_null(record);
        g_assert_nonnull(strstr(reason, word));
}

/* One of each kind, with all that must be in it and nothing else. */
static const char *const least[] = {
        "SocketWelcome {" WELCOME ",\"Port\":7462}",
        "SocketOpen {\"Purpose\":\"rtt\",\"Count\":1}",
        "SocketTokens {\"Tokens\":[\"" TOKEN "\"]}",
        "SocketMore {\"Tokens\":[\"" TOKEN "\"]}",
        "SocketBegin {" BEGIN ",\"DurationMaxMSec\":1400,\"StreamsMax\":8}",
        "SocketEffort {" EFFORT
        ",\"Busy\":1000,\"Rwnd\":1000,\"Sndbuf\":1000,\"Idle\":1000,\"Lost\":1000000}",
        "SocketVerdict {" VERDICT ",\"BitsPerSecond\":1,\"Bins\":0,\"Streams\":1,\"Limiter\":\"network\"}",
        "SocketNoRate {}",
        "SocketStop {}",
        "SocketSent {\"Retransmits\":0}",
        "SocketSpotResult {\"Bytes\":0}",
        "SocketBye {}",
        "ProbeAbort {\"Reason\":\"busy\"}",
};

/* The message without one of its keys. */
static char *without(const char *text, const char *key)
{
        g_autofree char *other = g_strdup_printf("\"Another%s\":", key);
        g_autofree char *quoted = g_strdup_printf("\"%s\":", key);
        const char *at = strstr(text, quoted);

        g_assert_nonnull(at);
        return g_strdup_printf("%.*s%s%s", (int) (at - text), text, other, at + strlen(quoted));
}

static void test_every_kind(void)
{
        unsigned n_required = 0;

        for (unsigned i = 0; i < G_N_ELEMENTS(least); i++) {
                g_autoptr(AldRecord) record = read_message(least[i]);
                g_autoptr(AldRecord) again = read_back(record->kind, ald_record_fields(record));
                const AldStruct *type = ald_record_type(record);

                g_assert_cmpint(ald_record_compare(record, again), ==, 0);
                for (size_t field = 0; field < type->n_fields; field++) {
                        const char *key = type->fields[field].name;
                        g_autofree char *lacking = NULL;

                        if (!type->fields[field].required)
                                continue;
                        lacking = without(least[i], key);
                        check_refused(lacking, -EBADMSG, key);
                        n_required++;
                }
        }
        g_assert_cmpuint(n_required, ==, 5 + 2 + 1 + 1 + 5 + 7 + 7 + 1 + 1 + 1);
}

static void test_verdict(void)
{
        AldVerdict verdict = { .bits_per_second = 123456789,
                .mean = 120000000,
                .interval = 1000,
                .spread = { true, 0 },
                .nsec = 1100000000,
                .bytes = UINT64_C(1) << 53,
                .bins = 16 };
        AldSocketVerdict message = ALD_SOCKET_VERDICT_INIT;
        g_autoptr(AldRecord) record = NULL, unsure = NULL;
        AldVerdict again;

        message.limiter = "sender";
        ALD_VERDICT_TO_REPORT(&message, &verdict);
        message.streams = 1;
        record = read_back(ALD_KIND_SOCKET_VERDICT, &message);
        again = ALD_VERDICT_OF_REPORT(ald_record_as(record, SOCKET_VERDICT, AldSocketVerdict));
        g_assert_cmpuint(again.bits_per_second, ==, verdict.bits_per_second);
        g_assert_cmpuint(again.mean, ==, verdict.mean);
        g_assert_cmpuint(again.interval, ==, verdict.interval);
        g_assert_true(again.spread.known && again.spread.value == 0);
        g_assert_cmpuint(again.nsec, ==, verdict.nsec);
        g_assert_cmpuint(again.bytes, ==, verdict.bytes);
        g_assert_cmpuint(again.bins, ==, verdict.bins);

        /* What is unknown is not sent; an interval is no wider than the rate. */
        verdict.interval = 0;
        verdict.spread = (AldOptional){};
        ALD_VERDICT_TO_REPORT(&message, &verdict);
        message.streams = 1;
        unsure = read_back(ALD_KIND_SOCKET_VERDICT, &message);
        message = *ald_record_as(unsure, SOCKET_VERDICT, AldSocketVerdict);
        g_assert_cmpuint(message.interval_bits_per_second, ==, ALD_ABSENT_UINT64);
        again = ALD_VERDICT_OF_REPORT(&message);
        g_assert_true(again.interval == 0 && !again.spread.known && again.spread.value == 0);
        message.interval_bits_per_second = verdict.bits_per_second + 1;
        g_assert_cmpuint(ALD_VERDICT_OF_REPORT(&message).interval, ==, verdict.bits_per_second);
}

/* A message may only grow: what follows here is refused or left out for ever. */
static void test_limits(void)
{
        static const struct {
                const char *text, *key;
        } cases[] = {
                { "SocketWelcome {" WELCOME ",\"Port\":0}", "Port" },
                { "SocketWelcome {" WELCOME ",\"Port\":65536}", "Port" },
                { "SocketWelcome {\"StreamsMax\":0}", "StreamsMax" },
                { "SocketWelcome {\"StreamsMax\":65}", "StreamsMax" },
                { "SocketWelcome {\"DurationMaxMSec\":0}", "DurationMaxMSec" },
                { "SocketWelcome {\"DurationMaxMSec\":3600001}", "DurationMaxMSec" },
                { "SocketWelcome {\"BytesMax\":0}", "BytesMax" },
                { "SocketWelcome {\"BytesMax\":9007199254740993}", "BytesMax" },
                { "SocketOpen {\"Count\":1,\"Purpose\":\"theft\"}", "Purpose" },
                { "SocketOpen {\"Count\":-1,\"Purpose\":\"rtt\"}", "Count" },
                { "SocketOpen {\"Count\":0,\"Purpose\":\"rtt\"}", "Count" },
                { "SocketOpen {\"Count\":9,\"Purpose\":\"rtt\"}", "Count" },
                { "SocketTokens {\"Tokens\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}",
                        "Tokens" },
                { "SocketTokens {\"Tokens\":[\"\"]}", "Tokens" },
                { "SocketMore {\"Tokens\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}",
                        "Tokens" },
                { "SocketMore {\"Tokens\":[\"\"]}", "Tokens" },
                { "SocketBegin {\"Direction\":\"rtt\"}", "Direction" },
                { "SocketBegin {\"DurationMaxMSec\":0}", "DurationMaxMSec" },
                { "SocketBegin {\"DurationMaxMSec\":3600001}", "DurationMaxMSec" },
                { "SocketBegin {\"BytesMax\":0}", "BytesMax" },
                { "SocketBegin {\"StreamsMax\":0}", "StreamsMax" },
                { "SocketBegin {\"StreamsMax\":65}", "StreamsMax" },
                { "SocketBegin {\"MinRttNSec\":-1}", "MinRttNSec" },
                { "SocketEffort {\"Busy\":1001}", "Busy" },
                { "SocketEffort {\"Rwnd\":1001}", "Rwnd" },
                { "SocketEffort {\"Sndbuf\":1001}", "Sndbuf" },
                { "SocketEffort {\"Idle\":1001}", "Idle" },
                { "SocketEffort {\"Lost\":1000001}", "Lost" },
                { "SocketVerdict {\"BitsPerSecond\":0}", "BitsPerSecond" },
                { "SocketVerdict {\"BitsPerSecond\":9007199254740993}", "BitsPerSecond" },
                { "SocketVerdict {\"DurationNSec\":0}", "DurationNSec" },
                { "SocketVerdict {\"IntervalBitsPerSecond\":0}", "IntervalBitsPerSecond" },
                { "SocketVerdict {\"SpreadPpm\":1000000001}", "SpreadPpm" },
                { "SocketVerdict {\"Bins\":4294967296}", "Bins" },
                { "SocketVerdict {\"Streams\":0}", "Streams" },
                { "SocketVerdict {\"Streams\":65}", "Streams" },
                { "SocketVerdict {\"Limiter\":\"weather\"}", "Limiter" },
                { "SocketSpotResult {\"Bytes\":1,\"BitsPerSecond\":0}", "BitsPerSecond" },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
                check_refused(cases[i].text, -ERANGE, cases[i].key);
}

static void test_bad(void)
{
        static const struct {
                const char *text;
                int error;
                const char *word;
        } cases[] = {
                { "", -ENOENT, "" },
                { "null", -ENOENT, "" },
                { "SocketBye", -ENOENT, "" },
                { "SocketBy {}", -ENOENT, "" },
                { " SocketBye {}", -ENOENT, "" },
                { "RdmaBye {}", -ENOENT, "" },
                { "ProbeFailure {\"error\":\"busy\"}", -ENOENT, "" },
                { "{\"type\":\"bye\"}", -ENOENT, "" },
                { "SocketBye ", -EBADMSG, "" },
                { "SocketBye [1]", -EBADMSG, "" },
                { "SocketBye {} x", -EBADMSG, "" },
                { "SocketBye {\"x\":1,\"x\":1}", -EBADMSG, "" },
                { "SocketBye {\"x\":[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}", -EBADMSG, "" },
                { "SocketOpen {\"Count\":1.5,\"Purpose\":\"rtt\"}", -EBADMSG, "Count" },
                { "SocketOpen {\"Count\":1,\"Purpose\":\"rtt\",\"Scope\":1}", -EBADMSG, "Scope" },
                { "SocketOpen {\"Count\":1,\"Purpose\":\"rtt\",\"Automatic\":1}", -EBADMSG, "Automatic" },
                { "SocketTokens {\"Tokens\":[1]}", -EBADMSG, "Tokens" },
                { "SocketTokens {\"Tokens\":[]}", -EBADMSG, "Tokens" },
                { "ProbeAbort {\"Reason\":\"\\u001b[2J\"}", -EBADMSG, "Reason" },
                { "SocketOpen {\"Count\":1,\"Purpose\":\"rtt\",\"Scope\":\"\\n\"}", -ERANGE, "Scope" },
        };
        g_autofree char *longest = g_strnfill(ALD_FRAME_MAX, ' ');
        g_autofree char *too_long = g_strconcat("SocketBye {", longest, "}", NULL);

        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
                check_refused(cases[i].text, cases[i].error, cases[i].word);
        check_refused(too_long, -E2BIG, "4096");
}

/* Text from the other side is shown on terminals and in logs. */
static void test_text_is_printable(void)
{
        g_autoptr(AldRecord)
                odd = read_message("ProbeAbort {\"Reason\":\"busy\",\"Text\":\"a\\u001b[2J\\nb\\u202ec\"}");
        g_autoptr(AldRecord) none = read_message("SocketNoRate {\"Reason\":\"\\u001b[2J\"}");
        g_autoptr(AldRecord) plain = read_message("ProbeAbort {\"Reason\":\"busy\",\"Text\":\"caf\\u00e9\"}");
        const AldProbeAbort *abort = ald_record_as(odd, PROBE_ABORT, AldProbeAbort);

        g_assert_null(abort->text);
        g_assert_cmpstr(abort->reason, ==, "busy");
        g_assert_null(ald_record_as(none, SOCKET_NO_RATE, AldSocketNoRate)->reason);
        g_assert_cmpstr(ald_record_as(plain, PROBE_ABORT, AldProbeAbort)->text, ==, "café");
}

/* Unknown fields are skipped, and the words of a newer peer are read where they only inform. */
static void test_newer_peer(void)
{
        g_autoptr(AldRecord) bye = read_message("SocketBye {\"Mood\":{\"good\":[true]}}");
        g_autoptr(AldRecord) open = read_message(
                "SocketOpen {\"Purpose\":\"rtt\",\"Count\":1,\"Scope\":\"half\",\"Urgent\":true}");
        g_autoptr(AldRecord) abort = read_message("ProbeAbort {\"Reason\":\"too-hot\",\"Text\":\"95 °C\"}");

        g_assert_cmpint(bye->kind, ==, ALD_KIND_SOCKET_BYE);
        g_assert_cmpstr(ald_record_as(open, SOCKET_OPEN, AldSocketOpen)->scope, ==, "half");
        g_assert_cmpint(ald_record_as(open, SOCKET_OPEN, AldSocketOpen)->automatic, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpstr(ald_record_as(abort, PROBE_ABORT, AldProbeAbort)->reason, ==, "too-hot");
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

/* The longest messages fit into a frame, and are what the other side reads. */
static void test_sizes(void)
{
        const char *const tokens[] = { TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, NULL };
        const AldSocketMore more = { .tokens = tokens };
        g_autofree char *quotes = g_strnfill(10000, '"'), *text = ald_message_text(quotes);
        const AldProbeAbort abort = { .reason = "round-trips-only", .text = text };
        g_autofree char *more_text = ald_message_format_named(ALD_KIND_SOCKET_MORE, &more);
        g_autofree char *abort_text = ald_message_format_named(ALD_KIND_PROBE_ABORT, &abort);
        g_autoptr(AldRecord) more_record = read_message(more_text), abort_record = read_message(abort_text);
        const AldSocketMore *again = ald_record_as(more_record, SOCKET_MORE, AldSocketMore);

        g_assert_cmpuint(strlen(more_text), <=, ALD_FRAME_MAX);
        g_assert_cmpuint(strlen(abort_text), <=, ALD_FRAME_MAX);
        g_assert_cmpuint(g_strv_length((char **) again->tokens), ==, 8);
        g_assert_cmpstr(again->tokens[7], ==, TOKEN);
        g_assert_cmpstr(ald_record_as(abort_record, PROBE_ABORT, AldProbeAbort)->text, ==, text);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/message/every-kind", test_every_kind);
        g_test_add_func("/socket/message/verdict", test_verdict);
        g_test_add_func("/socket/message/limits", test_limits);
        g_test_add_func("/socket/message/bad", test_bad);
        g_test_add_func("/socket/message/printable", test_text_is_printable);
        g_test_add_func("/socket/message/newer-peer", test_newer_peer);
        g_test_add_func("/socket/message/sizes", test_sizes);
        g_test_add_func("/socket/frame/parts", test_frames);
        g_test_add_func("/socket/frame/limits", test_frame_limits);
        return g_test_run();
}
