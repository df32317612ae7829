/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/failure.h"
#include "probes/rdma/gid.h"
#include "probes/rdma/rdma-cm.h"
#include "probes/rdma/rdma-session.h"
#include "probes/rdma/rdma-transfer.h"
#include "record/message.h"

#define GID "{\"Id\":\"00\",\"Index\":1,\"Type\":\"rocev2\",\"Gid\":\"fe80::1\"}"
#define QUEUE "{\"Id\":\"0\",\"Number\":17,\"Psn\":5}"
#define QUEUE_AT(id) "{\"Id\":\"" id "\",\"Number\":17,\"Psn\":5}"
#define QUEUES8                                                                               \
        QUEUE_AT("0")                                                                         \
        "," QUEUE_AT("1") "," QUEUE_AT("2") "," QUEUE_AT("3") "," QUEUE_AT("4") "," QUEUE_AT( \
                "5") "," QUEUE_AT("6") "," QUEUE_AT("7")

typedef struct Value {
        const char *key, *value;
        bool required;
} Value;

/* A valid message of each kind with all its fields. */
static const struct {
        const char *name;
        Value values[9];
} messages[] = {
        { "RdmaHello", { { "Version", "3", true }, { "Port", "\"mlx5_0.1\"" }, { "Manager", "false", true },
                               { "Automatic", "true" } } },
        { "RdmaOffer",
                { { "Version", "3", true }, { "Port", "\"rxe0.1\"", true }, { "Manager", "true", true },
                        { "Immediate", "true", true }, { "ServiceAddress", "\"192.0.2.1\"" },
                        { "ServicePort", "7480" }, { "ServiceNonce", "0" },
                        { "DurationMaxMSec", "5000", true }, { "BytesMax", "100", true } } },
        { "RdmaUse", { { "MessageBytes", "65536", true }, { "QueuePairs", "2", true },
                             { "Operation", "\"write\"", true }, { "DurationMaxMSec", "5000", true },
                             { "BytesMax", "100", true }, { "SourceGid", "\"fe80::1\"" },
                             { "GidType", "\"rocev2\"" }, { "SinkGidIndex", "1" } } },
        { "RdmaReady", { { "QueuePairs", "[" QUEUE "]" }, { "Lid", "0", true }, { "Mtu", "5", true },
                               { "Address", "4096", true }, { "Bytes", "65536", true }, { "Key", "0", true },
                               { "Depth", "16", true }, { "Nonce", "0", true } } },
        { "RdmaPhase", { { "Name", "\"ping\"", true } } },
        { "RdmaGo", {} },
        { "RdmaStop", { { "BitsPerSecond", "5", true }, { "MeanBitsPerSecond", "4", true },
                              { "IntervalBitsPerSecond", "1" }, { "SpreadPpm", "0" }, { "Bytes", "7", true },
                              { "DurationNSec", "8", true }, { "Bins", "0", true } } },
        { "RdmaDrained", { { "Bytes", "0", true } } },
        { "ProbeAbort", { { "Reason", "\"busy\"", true }, { "Text", "\"another peer is measured\"" } } },
};

/* The message with another value of this key, or without the key if the value is NULL. */
static char *change(size_t message, const char *key, const char *value)
{
        GString *text = g_string_new(NULL);
        const char *separator = "";

        g_string_printf(text, "%s {", messages[message].name);
        for (const Value *at = messages[message].values;
                at < messages[message].values + G_N_ELEMENTS(messages[message].values) && at->key; at++) {
                const char *given = g_strcmp0(at->key, key) == 0 ? value : at->value;

                if (!given)
                        continue;
                g_string_append_printf(text, "%s\"%s\":%s", separator, at->key, given);
                separator = ",";
        }
        /* A list comes beside the other fields of its message. */
        if (g_strcmp0(key, "Gids") == 0)
                g_string_append_printf(text, "%s\"Gids\":%s", separator, value);
        g_string_append_c(text, '}');
        return g_string_free(text, FALSE);
}

static size_t find(const char *name)
{
        size_t i = 0;

        while (!g_str_equal(messages[i].name, name))
                i++;
        return i;
}

static int parse(const char *text, AldRecord **ret)
{
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *reason = NULL;
        int r = ald_protocol_parse(&ald_rdma_protocol, text, strlen(text), &record, &reason);

        g_test_message("%.300s: %d %s", text, r, reason ?: "");
        g_assert_cmpint(r < 0, ==, record == NULL);
        if (ret)
                *ret = g_steal_pointer(&record);
        return r;
}

static AldRecord *read_changed(const char *name, const char *key, const char *value)
{
        g_autofree char *text = change(find(name), key, value);
        AldRecord *record = NULL;

        g_assert_cmpint(parse(text, &record), ==, 0);
        return record;
}

static void test_all_fields(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(messages); i++) {
                g_autofree char *text = change(i, NULL, NULL), *again = NULL;
                g_autoptr(AldRecord) record = NULL;

                g_assert_cmpint(parse(text, &record), ==, 0);
                again = ald_message_format_named(record->kind, ald_record_fields(record));
                if (record->kind == ALD_KIND_RDMA_OFFER) {
                        g_assert_true(g_str_has_suffix(again, ",\"Gids\":[]}"));
                        memcpy(strstr(again, ",\"Gids\""), "}", 2);
                }
                g_assert_cmpstr(again, ==, text);
        }
}

static void test_required(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(messages); i++)
                for (const Value *at = messages[i].values;
                        at < messages[i].values + G_N_ELEMENTS(messages[i].values) && at->key; at++) {
                        g_autofree char *without = change(i, at->key, NULL);

                        g_assert_cmpint(parse(without, NULL), ==, at->required ? -EBADMSG : 0);
                }
}

/* Each limit: with a value that reaches it where there is an upper one, and one beyond. */
static const struct {
        const char *message, *key, *value;
        int error;
} cases[] = {
        { "RdmaHello", "Version", "\"3\"", -EBADMSG },
        { "RdmaHello", "Version", "-1", -ERANGE },
        { "RdmaHello", "Port", "7", -EBADMSG },
        { "RdmaHello", "Port", "\"a\\u001b[2J\"", -ERANGE },
        { "RdmaHello", "Manager", "1", -EBADMSG },
        { "RdmaHello", "Automatic", "1", -EBADMSG },
        { "RdmaOffer", "Port", "\"a\\nb\"", -ERANGE },
        { "RdmaOffer", "Immediate", "1", -EBADMSG },
        { "RdmaOffer", "ServiceAddress", "\"\\u202e\"", -ERANGE },
        { "RdmaOffer", "ServicePort", "0", -ERANGE },
        { "RdmaOffer", "ServicePort", "65535", 0 },
        { "RdmaOffer", "ServicePort", "65536", -ERANGE },
        { "RdmaOffer", "ServiceNonce", "9007199254740992", 0 },
        { "RdmaOffer", "ServiceNonce", "9007199254740993", -ERANGE },
        { "RdmaOffer", "DurationMaxMSec", "0", -ERANGE },
        { "RdmaOffer", "DurationMaxMSec", "60000", 0 },
        { "RdmaOffer", "DurationMaxMSec", "60001", -ERANGE },
        { "RdmaOffer", "BytesMax", "0", -ERANGE },
        { "RdmaOffer", "BytesMax", "9007199254740993", -ERANGE },
        { "RdmaOffer", "Gids", "[" GID "]", 0 },
        { "RdmaOffer", "Gids", "7", -EBADMSG },
        { "RdmaOffer", "Gids", "[7]", -EBADMSG },
        { "RdmaOffer", "Gids", "[{}]", -EBADMSG },
        { "RdmaOffer", "Gids", "[{\"Index\":1,\"Type\":\"ib\",\"Gid\":\"::1\"}]", -EBADMSG },
        { "RdmaOffer", "Gids", "[{\"Id\":\"00\",\"Type\":\"ib\",\"Gid\":\"::1\"}]", -EBADMSG },
        { "RdmaOffer", "Gids", "[{\"Id\":\"00\",\"Index\":1,\"Gid\":\"::1\"}]", -EBADMSG },
        { "RdmaOffer", "Gids", "[{\"Id\":\"00\",\"Index\":1,\"Type\":\"ib\"}]", -EBADMSG },
        { "RdmaOffer", "Gids", "[{\"Id\":\"00\",\"Index\":-1,\"Type\":\"ib\",\"Gid\":\"::1\"}]", -ERANGE },
        { "RdmaOffer", "Gids", "[{\"Id\":\"00\",\"Index\":65535,\"Type\":\"ib\",\"Gid\":\"::1\"}]", 0 },
        { "RdmaOffer", "Gids", "[{\"Id\":\"00\",\"Index\":65536,\"Type\":\"ib\",\"Gid\":\"::1\"}]", -ERANGE },
        { "RdmaUse", "MessageBytes", "1023", -ERANGE },
        { "RdmaUse", "MessageBytes", "1024", 0 },
        { "RdmaUse", "MessageBytes", "8388608", 0 },
        { "RdmaUse", "MessageBytes", "8388609", -ERANGE },
        { "RdmaUse", "QueuePairs", "0", -ERANGE },
        { "RdmaUse", "QueuePairs", "8", 0 },
        { "RdmaUse", "QueuePairs", "9", -ERANGE },
        { "RdmaUse", "QueuePairs", "1.5", -EBADMSG },
        { "RdmaUse", "Operation", "\"send\"", 0 },
        { "RdmaUse", "Operation", "\"read\"", -ERANGE },
        { "RdmaUse", "Operation", "1", -EBADMSG },
        { "RdmaUse", "DurationMaxMSec", "0", -ERANGE },
        { "RdmaUse", "DurationMaxMSec", "60001", -ERANGE },
        { "RdmaUse", "BytesMax", "0", -ERANGE },
        { "RdmaUse", "SourceGid", "\"\\u0007\"", -ERANGE },
        { "RdmaUse", "GidType", "\"rocev3\"", 0 },
        { "RdmaUse", "SinkGidIndex", "65535", 0 },
        { "RdmaUse", "SinkGidIndex", "65536", -ERANGE },
        { "RdmaReady", "QueuePairs", "7", -EBADMSG },
        { "RdmaReady", "QueuePairs", "[7]", -EBADMSG },
        { "RdmaReady", "QueuePairs", "[{\"Id\":\"0\",\"Number\":16777215,\"Psn\":16777215}]", 0 },
        { "RdmaReady", "QueuePairs", "[{\"Id\":\"0\",\"Number\":16777216,\"Psn\":0}]", -ERANGE },
        { "RdmaReady", "QueuePairs", "[{\"Id\":\"0\",\"Number\":0,\"Psn\":16777216}]", -ERANGE },
        { "RdmaReady", "QueuePairs", "[{\"Id\":\"0\",\"Number\":0,\"Psn\":-1}]", -ERANGE },
        { "RdmaReady", "QueuePairs", "[{\"Id\":\"0\",\"Number\":0}]", -EBADMSG },
        { "RdmaReady", "QueuePairs", "[{\"Id\":\"0\",\"Psn\":0}]", -EBADMSG },
        { "RdmaReady", "QueuePairs", "[{\"Number\":0,\"Psn\":0}]", -EBADMSG },
        { "RdmaReady", "QueuePairs", "[" QUEUES8 "]", 0 },
        { "RdmaReady", "QueuePairs", "[" QUEUES8 "," QUEUE_AT("8") "]", -ERANGE },
        { "RdmaReady", "Lid", "65535", 0 },
        { "RdmaReady", "Lid", "65536", -ERANGE },
        { "RdmaReady", "Mtu", "0", -ERANGE },
        { "RdmaReady", "Mtu", "1", 0 },
        { "RdmaReady", "Mtu", "6", -ERANGE },
        { "RdmaReady", "Address", "140737488355327", 0 },
        { "RdmaReady", "Address", "-1", -ERANGE },
        { "RdmaReady", "Bytes", "1023", -ERANGE },
        { "RdmaReady", "Bytes", "1073741824", 0 },
        { "RdmaReady", "Bytes", "1073741825", -ERANGE },
        { "RdmaReady", "Key", "4294967295", 0 },
        { "RdmaReady", "Key", "4294967296", -ERANGE },
        { "RdmaReady", "Depth", "0", -ERANGE },
        { "RdmaReady", "Depth", "65535", 0 },
        { "RdmaReady", "Depth", "65536", -ERANGE },
        { "RdmaReady", "Nonce", "9007199254740993", -ERANGE },
        { "RdmaPhase", "Name", "\"done\"", 0 },
        { "RdmaPhase", "Name", "\"sing\"", -ERANGE },
        { "RdmaPhase", "Name", "1", -EBADMSG },
        { "RdmaPhase", "Name", "\"ping\",\"Name\":\"read\"", -EBADMSG },
        { "RdmaStop", "BitsPerSecond", "0", -EBADMSG },
        { "RdmaStop", "BitsPerSecond", "9007199254740993", -EBADMSG },
        { "RdmaStop", "MeanBitsPerSecond", "-1", -EBADMSG },
        { "RdmaStop", "Bytes", "-1", -EBADMSG },
        { "RdmaStop", "DurationNSec", "0", -EBADMSG },
        { "RdmaStop", "DurationNSec", "\"1\"", -EBADMSG },
        { "RdmaStop", "Bins", "4294967295", 0 },
        { "RdmaStop", "Bins", "4294967296", -EBADMSG },
        { "RdmaDrained", "Bytes", "-1", -ERANGE },
        { "RdmaDrained", "Bytes", "9007199254740993", -ERANGE },
        { "ProbeAbort", "Reason", "5", -EBADMSG },
};

static void test_limits(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = change(find(cases[i].message), cases[i].key, cases[i].value);

                g_assert_cmpint(parse(text, NULL), ==, cases[i].error);
        }
}

/* The last one is how version 2 begins. */
static void test_no_message(void)
{
        static const char *const unknown[] = { "", "[]", "{}", "RdmaGo", "RdmaSing {}", "SocketOpen {}",
                "{\"type\":\"hello\",\"version\":2,\"port\":\"\",\"manager\":0,\"automatic\":0}" };

        for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++)
                g_assert_cmpint(parse(unknown[i], NULL), ==, -ENOENT);
        g_assert_cmpint(parse("RdmaGo ", NULL), ==, -EBADMSG);
        g_assert_cmpint(parse("RdmaGo []", NULL), ==, -EBADMSG);
        g_assert_cmpint(parse("RdmaGo {} x", NULL), ==, -EBADMSG);
}

/* Fields that this version does not know, and words of them that it does not. */
static void test_newer_peer(void)
{
        g_autoptr(AldRecord) offer = NULL;
        const AldRdmaOffer *fields;
        AldGids gids;

        g_assert_cmpint(parse("RdmaGo {\"Mood\":{\"Good\":[true]}}", NULL), ==, 0);
        g_assert_cmpint(parse("ProbeAbort {\"Reason\":\"full-moon\"}", NULL), ==, 0);
        offer = read_changed("RdmaOffer", "Gids",
                "[" GID ",{\"Id\":\"01\",\"Index\":2,\"Type\":\"rocev3\",\"Gid\":\"::1\"}]");
        fields = ald_record_as(offer, RDMA_OFFER, AldRdmaOffer);
        g_assert_cmpint(ald_gid_rows_read(&fields->gids, &gids), ==, 0);
        g_assert_cmpuint(gids.n, ==, 1);
}

/* More GIDs than there is room for, deep nesting, a message beyond a frame. */
static void test_large(void)
{
        g_autofree char *deep = g_strnfill(ALD_FRAME_MAX, '['), *padded = NULL, *nested = NULL;
        g_autoptr(GString) gids = g_string_new("[");

        for (unsigned n = 1; n <= ALD_GIDS_MAX + 1; n++) {
                g_autofree char *list = NULL, *text = NULL;

                g_string_append_printf(gids,
                        "%s{\"Id\":\"%02u\",\"Index\":1,\"Type\":\"ib\",\"Gid\":\"::1\"}", n > 1 ? "," : "",
                        n);
                list = g_strconcat(gids->str, "]", NULL);
                text = change(find("RdmaOffer"), "Gids", list);
                g_assert_cmpint(parse(text, NULL), ==, n > ALD_GIDS_MAX ? -ERANGE : 0);
        }
        nested = g_strdup_printf("RdmaGo {\"X\":%s", deep);
        nested[ALD_FRAME_MAX] = '\0';
        g_assert_cmpint(parse(nested, NULL), ==, -EBADMSG);
        padded = g_strdup_printf("RdmaGo {%*s}", (int) ALD_FRAME_MAX, "");
        g_assert_cmpint(parse(padded, NULL), ==, -E2BIG);
}

/* What is sent can be read again, and is not larger than a frame. */
static AldRecord *send_fields(AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format_named(kind, fields);
        AldRecord *record = NULL;

        g_assert_cmpuint(strlen(text), <=, ALD_FRAME_MAX);
        g_assert_cmpint(parse(text, &record), ==, 0);
        return record;
}

static void test_gids(void)
{
        static const char *const texts[] = { "2001:db8:1111:2222:3333:4444:5555:6666", "::ffff:192.0.2.1" };
        AldRdmaOffer offer = { .version = 3,
                .port = "a",
                .manager = false,
                .immediate = true,
                .service_port = ALD_ABSENT_UINT64,
                .service_nonce = ALD_ABSENT_UINT64,
                .duration_max_msec = 60000,
                .bytes_max = ALD_INTEGER_MAX };
        g_autoptr(AldRecord) record = NULL;
        AldGids gids = { .n = ALD_GIDS_MAX }, again;
        AldGidRows rows;

        for (unsigned i = 0; i < gids.n; i++) {
                gids.gids[i] = (AldGid){ .index = 65535 - i, .type = i % _ALD_GID_TYPE_MAX };
                g_assert_cmpint(inet_pton(AF_INET6, texts[i % 2], &gids.gids[i].bytes), ==, 1);
        }
        offer.gids = ald_gid_rows_fill(&rows, &gids);
        record = send_fields(ALD_KIND_RDMA_OFFER, &offer);
        g_assert_cmpint(
                ald_gid_rows_read(&ald_record_as(record, RDMA_OFFER, AldRdmaOffer)->gids, &again), ==, 0);
        g_assert_cmpmem(&again, sizeof again, &gids, sizeof gids);
}

static void test_gid_that_is_no_address(void)
{
        static const char *const texts[] = { "x", "192.0.2.1", "fe80::1%eth0", "::1 ", " " };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                const AldRdmaGid row = { .id = "00", .type = "ib", .gid = texts[i] };
                const AldRows rows = { .type = &ald_rdma_gid_struct, .items = &row, .n = 1 };
                AldGids gids = { .n = 7 };

                g_assert_cmpint(ald_gid_rows_read(&rows, &gids), ==, -EINVAL);
                g_assert_cmpuint(gids.n, ==, 7);
        }
}

/* An offer of rdma_cm that does not say where, or what to show there. */
static void test_incomplete_service(void)
{
        static const char *const keys[] = { "ServiceAddress", "ServicePort", "ServiceNonce" };
        AldVerbsPort port = {};
        AldAddress control = {};

        for (size_t i = 0; i <= G_N_ELEMENTS(keys); i++) {
                g_autoptr(AldRecord) offer = i < G_N_ELEMENTS(keys)
                                                     ? read_changed("RdmaOffer", keys[i], NULL)
                                                     : read_changed("RdmaOffer", keys[0], "\"nowhere\"");
                AldFailure failure = {};
                AldRdmaCm manager = { .failure = &failure };

                g_assert_cmpint(ald_rdma_cm_resolve(&manager, &port, &control,
                                        ald_record_as(offer, RDMA_OFFER, AldRdmaOffer)),
                        <, 0);
                g_assert_cmpint(failure.kind, ==, ALD_FAILURE_PROTOCOL);
                g_assert_null(manager.id);
                ald_failure_clear(&failure);
        }
}

static void test_ready(void)
{
        const AldRdmaQueue queues[] = { { "0", 0xffffff, 3 }, { "1", 4, 0xffffff } };
        const AldRdmaReady ready = { .queue_pairs = { &ald_rdma_queue_struct, queues, 2 },
                .lid = 1,
                .mtu = 4,
                .address = UINT64_C(0x7fffffffffff),
                .bytes = 1u << 20,
                .key = UINT32_MAX,
                .depth = 128,
                .nonce = ALD_INTEGER_MAX };
        g_autoptr(AldRecord) record = send_fields(ALD_KIND_RDMA_READY, &ready);
        const AldRdmaReady *again = ald_record_as(record, RDMA_READY, AldRdmaReady);
        const AldRdmaQueue *second = ald_rows_at(&again->queue_pairs, 1);

        g_assert_cmpuint(again->queue_pairs.n, ==, 2);
        g_assert_cmpuint(second->number, ==, 4);
        g_assert_cmpuint(second->psn, ==, 0xffffff);
        g_assert_cmpuint(again->address, ==, ready.address);
        g_assert_cmpuint(again->key, ==, UINT32_MAX);
        g_assert_cmpuint(again->nonce, ==, ALD_INTEGER_MAX);
}

static AldVerdict send_verdict(const AldVerdict *verdict)
{
        const AldRdmaStop stop = ald_rdma_transfer_stop(verdict);
        g_autoptr(AldRecord) record = send_fields(ALD_KIND_RDMA_STOP, &stop);

        return ald_rdma_transfer_verdict(ald_record_as(record, RDMA_STOP, AldRdmaStop));
}

/* A spread of 0 is one; what no rate can have is unknown. */
static void test_verdict(void)
{
        AldVerdict verdict = { .bits_per_second = 5,
                .mean = 4,
                .interval = 2,
                .spread = { true, 0 },
                .bytes = 6,
                .nsec = 7,
                .bins = 8 };
        AldVerdict again = send_verdict(&verdict);

        g_assert_cmpuint(again.bits_per_second, ==, 5);
        g_assert_cmpuint(again.mean, ==, 4);
        g_assert_cmpuint(again.interval, ==, 2);
        g_assert_true(again.spread.known && again.spread.value == 0);
        g_assert_cmpuint(again.bytes, ==, 6);
        g_assert_cmpuint(again.nsec, ==, 7);
        g_assert_cmpuint(again.bins, ==, 8);
        verdict.spread.value = 1000000000;
        g_assert_true(send_verdict(&verdict).spread.known);
        verdict.spread.value = 1000000001;
        g_assert_false(send_verdict(&verdict).spread.known);
        verdict.spread.known = false;
        verdict.interval = 0;
        again = send_verdict(&verdict);
        g_assert_false(again.spread.known);
        g_assert_cmpuint(again.interval, ==, 0);
        verdict.interval = 50;
        g_assert_cmpuint(send_verdict(&verdict).interval, ==, 5);
}

static void test_odd_verdict(void)
{
        static const char *const odd[] = { "-1", "1000000001", "\"0\"", "null" };

        for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
                g_autoptr(AldRecord) record = read_changed("RdmaStop", "SpreadPpm", odd[i]);

                g_assert_false(ald_rdma_transfer_verdict(ald_record_as(record, RDMA_STOP, AldRdmaStop))
                                       .spread.known);
        }
}

/* A text that no terminal should show is left out, and so is one that is too long; the reason is not. */
static void test_text_of_abort(void)
{
        g_autofree char *longest = g_strnfill(ALD_MESSAGE_STRING_MAX, '"');
        g_autofree char *fits = ald_message_text(longest);
        const AldProbeAbort abort = { .reason = "no-gid", .text = fits };
        g_autoptr(AldRecord) odd = read_changed("ProbeAbort", "Text", "\"no\\u001b[2J GID\"");
        g_autoptr(AldRecord) record = NULL;

        g_assert_null(ald_record_as(odd, PROBE_ABORT, AldProbeAbort)->text);
        g_assert_cmpstr(ald_record_as(odd, PROBE_ABORT, AldProbeAbort)->reason, ==, "busy");
        record = send_fields(ALD_KIND_PROBE_ABORT, &abort);
        g_assert_nonnull(ald_record_as(record, PROBE_ABORT, AldProbeAbort)->text);
}

/* What the receiver says may not exceed what was sent, nor the time that this took. */
static void test_plausible(void)
{
        const AldVerdict good = { .bits_per_second = 1000000000,
                .mean = 990000000,
                .bytes = 125000000,
                .nsec = 1000000000,
                .bins = 20 };
        AldVerdict lies[] = { good, good, good, good, good };

        g_assert_true(ald_rdma_transfer_is_plausible(&good, good.bytes, good.nsec));
        lies[0].bytes++;
        lies[1].nsec++;
        lies[2].mean = UINT64_C(1) << 53;
        lies[3].bits_per_second = UINT64_C(1) << 53;
        lies[4].bits_per_second *= 2;
        lies[4].bins = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(lies); i++)
                g_assert_false(ald_rdma_transfer_is_plausible(&lies[i], good.bytes, good.nsec));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/message/all-fields", test_all_fields);
        g_test_add_func("/rdma/message/required", test_required);
        g_test_add_func("/rdma/message/limits", test_limits);
        g_test_add_func("/rdma/message/no-message", test_no_message);
        g_test_add_func("/rdma/message/newer-peer", test_newer_peer);
        g_test_add_func("/rdma/message/large", test_large);
        g_test_add_func("/rdma/message/gids", test_gids);
        g_test_add_func("/rdma/message/gid-that-is-no-address", test_gid_that_is_no_address);
        g_test_add_func("/rdma/message/incomplete-service", test_incomplete_service);
        g_test_add_func("/rdma/message/ready", test_ready);
        g_test_add_func("/rdma/message/verdict", test_verdict);
        g_test_add_func("/rdma/message/odd-verdict", test_odd_verdict);
        g_test_add_func("/rdma/message/abort", test_text_of_abort);
        g_test_add_func("/rdma/message/plausible", test_plausible);
        return g_test_run();
}
