/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/message.h"

#define ID "0123456789abcdef0123456789abcdef"
#define STATUS "\"State\":\"online\",\"Epoch\":5,\"Connection\":1"
#define MAX_BYTES 4096u

static AldRecord *read_status(const char *text)
{
        g_autofree char *reason = NULL;
        AldRecord *record = NULL;

        if (ald_message_parse(ALD_KIND_NODE_STATUS, text, strlen(text), MAX_BYTES, &record, &reason) < 0)
                g_error("%s: %s", text, reason);
        return record;
}

static void check_refused(AldKind kind, const char *text, int error, const char *word)
{
        g_autofree char *reason = NULL;
        AldRecord *record = NULL;

        g_test_message("%.200s", text);
        g_assert_cmpint(ald_message_parse(kind, text, strlen(text), MAX_BYTES, &record, &reason), ==, error);
        g_assert_null(record);
        g_assert_nonnull(strstr(reason, word));
        g_assert_cmpint(ald_message_parse(kind, text, strlen(text), MAX_BYTES, &record, NULL), ==, error);
}

static void test_round_trip(void)
{
        AldNodeStatus status = ALD_NODE_STATUS_INIT;
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *text = NULL;
        const AldNodeStatus *again;

        status.state = ald_node_status_state_to_string(ALD_NODE_STATUS_STATE_DUPLICATE);
        status.epoch = 7;
        status.connection = 0;
        status.instance = ID;
        text = ald_message_format(ALD_KIND_NODE_STATUS, &status);
        g_assert_cmpstr(
                text, ==, "{\"State\":\"duplicate\",\"Epoch\":7,\"Connection\":0,\"Instance\":\"" ID "\"}");
        record = read_status(text);
        again = ald_record_as(record, NODE_STATUS, AldNodeStatus);
        g_assert_cmpint(ald_node_status_state_from_string(again->state), ==, ALD_NODE_STATUS_STATE_DUPLICATE);
        g_assert_cmpuint(again->connection, ==, 0);
        g_assert_null(again->boot);
        g_assert_cmpuint(again->announced_epoch, ==, ALD_ABSENT_UINT64);
}

static int parse_named(const char *text, AldRecord **ret)
{
        static const AldKind kinds[] = { ALD_KIND_PROBE_FAILURE, ALD_KIND_NODE_STATUS };

        return ald_message_parse_named(kinds, G_N_ELEMENTS(kinds), text, strlen(text), MAX_BYTES, ret, NULL);
}

static void test_named_messages(void)
{
        static const char *const unknown[] = { "", " ", "NodeStatus", "NodeStatus{}", "NodeStatusX {}",
                "NodeStatu {}", " NodeStatus {}", "Message1.NodeStatus {}", "NodeAlive {}", "{}" };
        g_autoptr(AldRecord) record = NULL, again = NULL;
        g_autofree char *text = NULL;

        g_assert_cmpint(parse_named("NodeStatus {" STATUS ",\"Instance\":\"" ID "\"}", &record), ==, 0);
        g_assert_cmpint(record->kind, ==, ALD_KIND_NODE_STATUS);
        text = ald_message_format_named(record->kind, ald_record_fields(record));
        g_assert_true(g_str_has_prefix(text, "NodeStatus {\"State\":\"online\","));
        g_assert_cmpint(parse_named(text, &again), ==, 0);
        g_assert_cmpint(ald_record_compare(record, again), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++)
                g_assert_cmpint(parse_named(unknown[i], &again), ==, -ENOENT);
        g_assert_cmpint(parse_named("NodeStatus ", &again), ==, -EBADMSG);
        g_assert_cmpint(parse_named("NodeStatus {}", &again), ==, -EBADMSG);
}

static void test_text(void)
{
        g_autofree char *odd = ald_message_text("é\t\x1b[2J\xe2\x80\xae\xff");
        g_autofree char *none = ald_message_text(""), *endless = g_strnfill(10000, 'x'), *much = NULL;

        g_assert_cmpstr(odd, ==, "é  [2J \uFFFD");
        g_assert_cmpstr(none, ==, "");
        much = ald_message_text(endless);
        g_assert_cmpuint(strlen(much), <=, ALD_MESSAGE_STRING_MAX);
        g_assert_cmpuint(strlen(much), >, ALD_MESSAGE_STRING_MAX - 8);
        g_assert_true(g_str_has_prefix(endless, much));
}

static void test_unknown_keys_are_skipped(void)
{
        g_autoptr(AldRecord)
                record = read_status("{" STATUS ",\"Instance\":\"" ID "\",\"Colour\":[{\"red\":true}]}");

        g_assert_cmpuint(ald_record_as(record, NODE_STATUS, AldNodeStatus)->epoch, ==, 5);
}

static void test_what_is_required(void)
{
        check_refused(ALD_KIND_NODE_STATUS, "{" STATUS "}", -EBADMSG, "Instance");
        check_refused(ALD_KIND_NODE_STATUS, "{" STATUS ",\"Instance\":null}", -EBADMSG, "Instance");
        check_refused(ALD_KIND_NODE_STATUS, "{" STATUS ",\"Instance\":\"\"}", -ERANGE, "Instance");
        check_refused(ALD_KIND_NODE_STATUS, "[]", -EBADMSG, "NodeStatus");
        check_refused(ALD_KIND_NODE_STATUS, "{", -EBADMSG, "byte 1: ");
}

static void test_limits(void)
{
        check_refused(ALD_KIND_NODE_FORGET, "{\"Epoch\":0,\"Sequence\":1,\"SentUSec\":1}", -ERANGE, "Epoch");
        check_refused(ALD_KIND_NODE_FORGET, "{\"Epoch\":-1,\"Sequence\":1,\"SentUSec\":1}", -ERANGE, "Epoch");
        check_refused(
                ALD_KIND_NODE_FORGET, "{\"Epoch\":1.5,\"Sequence\":1,\"SentUSec\":1}", -EBADMSG, "Epoch");
        check_refused(ALD_KIND_NODE_FORGET, "{\"Epoch\":9007199254740993,\"Sequence\":1,\"SentUSec\":1}",
                -ERANGE, "Epoch");
}

static void test_words_and_ids(void)
{
        check_refused(ALD_KIND_NODE_STATUS,
                "{\"State\":\"away\",\"Epoch\":5,\"Connection\":1,\"Instance\":\"" ID "\"}", -ERANGE,
                "State");
        check_refused(ALD_KIND_NODE_STATUS, "{" STATUS ",\"Instance\":\"0123\"}", -ERANGE, "Instance");
        check_refused(ALD_KIND_NODE_STATUS,
                "{" STATUS ",\"Instance\":\"" ID "\",\"Boot\":\"0123456789ABCDEF0123456789abcdef\"}", -ERANGE,
                "Boot");
}

static void test_size(void)
{
        g_autofree char *text = g_strdup_printf(
                "{" STATUS ",\"Instance\":\"" ID "\"%*s}", (int) MAX_BYTES, "");

        check_refused(ALD_KIND_NODE_STATUS, text, -E2BIG, "larger than 4096 bytes");
}

static AldRecord *read_tolerantly(const char *text)
{
        g_autofree char *reason = NULL;
        AldRecord *record = NULL;

        if (ald_message_parse(ALD_KIND_NVML_ANSWER, text, strlen(text), MAX_BYTES, &record, &reason) < 0)
                g_error("%s: %s", text, reason);
        return record;
}

/* Each of these fields is invalid in its own way; the others of the same row stay. */
static void test_tolerant_field(void)
{
        static const char *const invalid[] = { "\"Usage\":101", "\"Usage\":\"5\"", "\"Usage\":null",
                "\"ClockHz\":0", "\"ClockHz\":-1", "\"ClockHz\":1.5", "\"ClockHz\":9007199254740993",
                "\"Name\":\"\\u001b[31m\"", "\"Name\":7", "\"Unified\":1" };

        for (size_t i = 0; i < G_N_ELEMENTS(invalid); i++) {
                g_autofree char *text = g_strdup_printf(
                        "{\"Devices\":[{\"Id\":\"a\",\"PowerMicroWatts\":3,%s}]}", invalid[i]);
                g_autoptr(AldRecord) record = read_tolerantly(text);
                const AldNvmlDevice *device = ald_rows_at(
                        &ald_record_as(record, NVML_ANSWER, AldNvmlAnswer)->devices, 0);

                g_test_message("%s", invalid[i]);
                g_assert_cmpuint(device->power_micro_watts, ==, 3);
                g_assert_true(isnan(device->usage));
                g_assert_cmpuint(device->clock_hz, ==, ALD_ABSENT_UINT64);
                g_assert_null(device->name);
                g_assert_cmpint(device->unified, ==, ALD_ABSENT_BOOLEAN);
        }
}

static void test_tolerant_long_string(void)
{
        g_autofree char *longest = g_strnfill(ALD_MESSAGE_STRING_MAX, 'x');
        g_autofree char *text = g_strdup_printf(
                "{\"DriverVersion\":\"%s\",\"Error\":\"%sx\"}", longest, longest);
        g_autoptr(AldRecord) record = read_tolerantly(text);

        g_assert_cmpstr(ald_record_as(record, NVML_ANSWER, AldNvmlAnswer)->driver_version, ==, longest);
        g_assert_null(ald_record_as(record, NVML_ANSWER, AldNvmlAnswer)->error);
}

/* What is not a row, or has no Id, is dropped; of two with the same Id one stays. */
static void test_tolerant_rows(void)
{
        g_autoptr(AldRecord) record = read_tolerantly("{\"Devices\":[{\"Id\":\"b\"},7,[],null,{},{\"Id\":"
                                                      "\"\"},{\"Id\":5},{\"Id\":\"a\"},{\"Id\":\"a\"}]}");
        const AldRows *rows = &ald_record_as(record, NVML_ANSWER, AldNvmlAnswer)->devices;

        g_assert_cmpuint(rows->n, ==, 2);
        g_assert_nonnull(ald_rows_find(rows, "a"));
        g_assert_nonnull(ald_rows_find(rows, "b"));
}

/* What is required of a row decides about the row alone. */
static void test_tolerant_required(void)
{
        g_autofree char *reason = NULL;
        g_autoptr(AldRecord) record = NULL;
        const char *text = "{\"Devices\":[{\"Id\":\"0\"},{\"Id\":\"1\",\"Platform\":\"p\"}]}";
        const AldRows *rows;

        g_assert_cmpint(
                ald_message_parse(ALD_KIND_OPENCL_ANSWER, text, strlen(text), MAX_BYTES, &record, &reason),
                ==, 0);
        rows = &ald_record_as(record, OPENCL_ANSWER, AldOpenclAnswer)->devices;
        g_assert_cmpuint(rows->n, ==, 1);
        g_assert_nonnull(ald_rows_find(rows, "1"));
}

/* Tolerance ends where there is no message at all. */
static void test_tolerant_refuses(void)
{
        check_refused(ALD_KIND_NVML_ANSWER, "7", -EBADMSG, "NvmlAnswer");
        check_refused(ALD_KIND_NVML_ANSWER, "[]", -EBADMSG, "NvmlAnswer");
        check_refused(ALD_KIND_NVML_ANSWER, "{\"Devices\":[", -EBADMSG, "byte 12: ");
        check_refused(ALD_KIND_NVML_REQUEST, "{}", -EBADMSG, "Ids");
        check_refused(ALD_KIND_NVML_REQUEST, "{\"Ids\":[]}", -EBADMSG, "Ids");
}

/* Only what both have, by name and type; rows of another type are another type. */
static void test_copy_common(void)
{
        AldNvmlDevice from = ALD_NVML_DEVICE_INIT;
        AldDevice to = ALD_DEVICE_INIT;

        from.id = "a";
        from.name = "not there";
        from.usage = 5;
        to.clock_hz = 7;
        to.shared_used_bytes = 8;
        ald_struct_copy_common(&ald_device_struct, &to, &ald_nvml_device_struct, &from);
        g_assert_cmpstr(to.id, ==, "a");
        g_assert_cmpfloat(to.usage, ==, 5);
        g_assert_cmpuint(to.clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(to.shared_used_bytes, ==, 8);
}

static void test_overlay(void)
{
        AldDevice from = ALD_DEVICE_INIT, to = ALD_DEVICE_INIT;

        to.id = "a";
        to.usage = 1;
        to.clock_hz = 7;
        from.usage = 0;
        from.power_micro_watts = 3;
        ald_struct_overlay(&ald_device_struct, &to, &from);
        g_assert_cmpstr(to.id, ==, "a");
        g_assert_cmpfloat(to.usage, ==, 0);
        g_assert_cmpuint(to.clock_hz, ==, 7);
        g_assert_cmpuint(to.power_micro_watts, ==, 3);
        g_assert_cmpint(to.temperature_milli_celsius, ==, ALD_ABSENT_INT64);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/message/round-trip", test_round_trip);
        g_test_add_func("/message/named", test_named_messages);
        g_test_add_func("/message/unknown-keys", test_unknown_keys_are_skipped);
        g_test_add_func("/message/required", test_what_is_required);
        g_test_add_func("/message/limits", test_limits);
        g_test_add_func("/message/words-and-ids", test_words_and_ids);
        g_test_add_func("/message/size", test_size);
        g_test_add_func("/message/tolerant/field", test_tolerant_field);
        g_test_add_func("/message/tolerant/long-string", test_tolerant_long_string);
        g_test_add_func("/message/tolerant/rows", test_tolerant_rows);
        g_test_add_func("/message/tolerant/required", test_tolerant_required);
        g_test_add_func("/message/tolerant/refuses", test_tolerant_refuses);
        g_test_add_func("/message/copy-common", test_copy_common);
        g_test_add_func("/message/overlay", test_overlay);
        g_test_add_func("/message/text", test_text);
        return g_test_run();
}
