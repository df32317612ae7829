/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "record/json.h"
#include "tests/unit/record-maker.h"

#define MAX_BYTES (1024u * 1024)

static json_t *load(const char *text)
{
        g_autofree char *error = NULL;
        json_t *json = NULL;
        int r = ald_json_load(text, strlen(text), MAX_BYTES, &json, &error);

        if (r < 0)
                g_error("%s: %s", text, error);
        return json;
}

static AldRecord *read_record(AldKind kind, const char *text)
{
        AldRecord *record = NULL;

        g_assert_cmpint(ald_record_from_text(kind, text, strlen(text), &record, NULL), ==, 0);
        return record;
}

static void check_refused(AldKind kind, const char *text, int error, const char *field)
{
        AldRecord *record = NULL;
        AldJsonFault fault;

        g_test_message("%.80s", text);
        g_assert_cmpint(ald_record_from_text(kind, text, strlen(text), &record, &fault), ==, error);
        g_assert_null(record);
        g_assert_cmpstr(fault.field, ==, field);
        g_assert_null(fault.problem);
        g_assert_cmpint(ald_record_from_text(kind, text, strlen(text), &record, NULL), ==, error);
}

/* Through text too, as a file and a broker carry it. */
static void test_round_trip(void)
{
        for (unsigned round = 0; round < 3000; round++) {
                AldKind kind = (AldKind) g_test_rand_int_range(0, ALD_N_KINDS);
                g_autoptr(AldRecord) record = record_random(kind);
                g_autoptr(AldRecord) again = NULL;
                json_auto_t *json = ald_record_to_json(record);
                char *text = json_dumps(json, JSON_COMPACT);

                g_assert_cmpint(ald_record_from_text(kind, text, strlen(text), &again, NULL), ==, 0);
                records_assert_same(record, again);
                free(text);
        }
}

/* A peer may send more rows than their Maximum. The others of the record are kept. */
static void test_rows_beyond_the_maximum(void)
{
        g_autoptr(GString) text = g_string_new("{\"RefusedPublishers\":[");
        g_autoptr(AldRecord) record = NULL;
        const AldMembership *membership;

        for (unsigned i = 0; i < 100; i++)
                g_string_append_printf(text, "%s{\"Id\":\"%032x\"}", i > 0 ? "," : "", i);
        g_string_append(text, "],\"ClusterName\":\"lab\"}");
        record = read_record(ALD_KIND_MEMBERSHIP, text->str);
        membership = ald_record_as(record, MEMBERSHIP, AldMembership);
        g_assert_cmpuint(membership->refused_publishers.n, ==, 8);
        g_assert_cmpstr(membership->cluster_name, ==, "lab");
}

/* A hostile peer may claim any number of devices and of processes that hold them. */
static void test_holders_beyond_the_maximum(void)
{
        g_autoptr(GString) text = g_string_new("{\"Devices\":[");
        g_autoptr(AldRecord) record = NULL;
        const AldProcesses *processes;

        for (unsigned i = 0; i < 4096; i++)
                g_string_append_printf(text, "%s{\"Id\":\"%u\",\"Holders\":1}", i > 0 ? "," : "", i);
        g_string_append(text, "],\"Holders\":[");
        for (unsigned i = 0; i < 4096; i++)
                g_string_append_printf(text, "%s{\"Id\":\"%u\",\"Pid\":%u}", i > 0 ? "," : "", i, i);
        g_string_append(text, "],\"AbsentReasons\":[\"Holders: x\"]}");
        record = read_record(ALD_KIND_PROCESSES, text->str);
        processes = ald_record_as(record, PROCESSES, AldProcesses);
        g_assert_cmpuint(processes->devices.n, ==, 256);
        g_assert_cmpuint(processes->holders.n, ==, 1024);
        g_assert_cmpstr(processes->absent_reasons[0], ==, "Holders: x");
}

static void test_names_are_those_of_the_bus(void)
{
        g_autoptr(AldRecord)
                record = read_record(ALD_KIND_DISK, "{\"Paths\": [{\"Id\": \"/srv\", \"AvailableBytes\": 5}, "
                                                    "{\"Id\": \"/\", \"TotalBytes\": 7}]}");
        const AldDisk *disk = ald_record_as(record, DISK, AldDisk);
        json_auto_t *json = ald_record_to_json(record);
        json_auto_t *expected = load("{\"Paths\": [{\"Id\": \"/\", \"TotalBytes\": 7}, {\"Id\": \"/srv\", "
                                     "\"AvailableBytes\": 5}]}");

        g_assert_cmpuint(disk->paths.n, ==, 2);
        g_assert_true(json_equal(json, expected));
}

static void test_absent_is_not_there(void)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                const AldStruct *type = ald_kinds[kind].type;
                g_autoptr(AldRecord) absent = record_make(kind, type->absent);
                g_autoptr(AldRecord) read = read_record(kind, "{}");
                json_auto_t *json = ald_record_to_json(absent);
                const char *name;
                json_t *value;

                records_assert_same(absent, read);
                json_object_foreach(json, name, value)
                        g_assert_cmpint(ald_struct_find(type, name)->type, ==, ALD_TYPE_ROWS);
        }
}

static void test_not_a_number_becomes_absent(void)
{
        AldSystem system = ALD_SYSTEM_INIT;
        g_autoptr(AldRecord) record = NULL;
        json_t *json;

        for (unsigned i = 0; i < 3; i++) {
                system.cpu_usage = (double[]){ NAN, INFINITY, -INFINITY }[i];
                g_clear_pointer(&record, ald_record_unref);
                record = record_make(ALD_KIND_SYSTEM, &system);
                json = ald_record_to_json(record);
                g_assert_null(json_object_get(json, "CpuUsage"));
                json_decref(json);
        }
}

static void test_integers_survive(void)
{
        static const uint64_t values[] = { 0, 1, (UINT64_C(1) << 53) - 1, UINT64_C(1) << 53 };

        for (unsigned i = 0; i < G_N_ELEMENTS(values); i++) {
                g_autofree char *text = g_strdup_printf("{\"TotalBytes\": %" G_GUINT64_FORMAT "}", values[i]);
                g_autoptr(AldRecord) record = read_record(ALD_KIND_MEMORY, text);
                json_auto_t *json = ald_record_to_json(record);

                g_assert_cmpuint(ald_record_as(record, MEMORY, AldMemory)->total_bytes, ==, values[i]);
                g_assert_cmpint(
                        json_integer_value(json_object_get(json, "TotalBytes")), ==, (gint64) values[i]);
        }
}

static void test_integer_and_real_for_each_other(void)
{
        g_autoptr(AldRecord) system = read_record(ALD_KIND_SYSTEM,
                "{\"CpuUsage\": 7, \"TemperatureMilliCelsius\": -4.0e1, \"PowerMicroWatts\": 3.0}");
        g_autoptr(AldRecord) limit = read_record(ALD_KIND_MEMORY, "{\"TotalBytes\": 9007199254740992.0}");
        const AldSystem *fields = ald_record_as(system, SYSTEM, AldSystem);

        g_assert_cmpfloat(fields->cpu_usage, ==, 7);
        g_assert_cmpint(fields->temperature_milli_celsius, ==, -40);
        g_assert_cmpuint(fields->power_micro_watts, ==, 3);
        g_assert_cmpuint(
                ald_record_as(limit, MEMORY, AldMemory)->total_bytes, ==, (uint64_t) ALD_INTEGER_MAX);
}

static void test_out_of_range(void)
{
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": 9007199254740993}", -ERANGE, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": 9223372036854775807}", -ERANGE, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": -1}", -ERANGE, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": 1e300}", -ERANGE, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": -1.0}", -ERANGE, "TotalBytes");
        check_refused(ALD_KIND_SYSTEM, "{\"TemperatureMilliCelsius\": -9007199254740993}", -ERANGE,
                "TemperatureMilliCelsius");
        check_refused(ALD_KIND_SYSTEM, "{\"TemperatureMilliCelsius\": -9223372036854775808}", -ERANGE,
                "TemperatureMilliCelsius");
}

static void test_long_strings(void)
{
        g_autofree char *longest = g_strnfill(ALD_STRING_MAX, 'x');
        g_autofree char *right = g_strdup_printf("{\"ModelId\": \"%s\"}", longest);
        g_autofree char *wrong = g_strdup_printf("{\"ModelId\": \"%sx\"}", longest);
        g_autofree char *list = g_strdup_printf("{\"AbsentReasons\": [\"a\", \"%sx\"]}", longest);
        g_autoptr(AldRecord) record = read_record(ALD_KIND_IDENTITY, right);

        g_assert_cmpstr(ald_record_as(record, IDENTITY, AldIdentity)->model_id, ==, longest);
        check_refused(ALD_KIND_IDENTITY, wrong, -ERANGE, "ModelId");
        check_refused(ALD_KIND_SYSTEM, list, -ERANGE, "AbsentReasons");
}

static void test_wrong_types(void)
{
        check_refused(ALD_KIND_MEMORY, "[]", -EBADMSG, NULL);
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": \"5\"}", -EBADMSG, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": null}", -EBADMSG, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": true}", -EBADMSG, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"TotalBytes\": 5.5}", -EBADMSG, "TotalBytes");
        check_refused(ALD_KIND_MEMORY, "{\"PressureSome10\": \"nan\"}", -EBADMSG, "PressureSome10");
        check_refused(ALD_KIND_IDENTITY, "{\"Vendor\": 5}", -EBADMSG, "Vendor");
        check_refused(ALD_KIND_IDENTITY, "{\"Vendor\": [\"a\"]}", -EBADMSG, "Vendor");
        check_refused(ALD_KIND_SYSTEM, "{\"AbsentReasons\": \"a\"}", -EBADMSG, "AbsentReasons");
        check_refused(ALD_KIND_SYSTEM, "{\"AbsentReasons\": [\"a\", 5]}", -EBADMSG, "AbsentReasons");
        check_refused(ALD_KIND_DISK, "{\"Paths\": {}}", -EBADMSG, "Paths");
        check_refused(ALD_KIND_DISK, "{\"Paths\": [[]]}", -EBADMSG, "Paths");
        check_refused(ALD_KIND_DISK, "{\"Paths\": [{\"Id\": 5}]}", -EBADMSG, "Id");
        check_refused(ALD_KIND_DISK, "{\"Paths\": [{}, {\"TotalBytes\": \"x\"}]}", -EBADMSG, "TotalBytes");
        check_refused(
                ALD_KIND_NETWORK, "{\"Interfaces\": [{\"Id\": \"a\", \"Carrier\": 1}]}", -EBADMSG, "Carrier");
}

/* What is little in JSON and nothing in a record may still be much on the way. */
static void check_many(AldKind kind, const char *field, const char *element)
{
        g_autoptr(GString) text = g_string_new(NULL);

        g_string_printf(text, "{\"%s\": [%s", field, element);
        for (unsigned i = 0; i < ALD_RECORD_MAX / sizeof(char *); i++)
                g_string_append_printf(text, ",%s", element);
        g_string_append(text, "]}");
        check_refused(kind, text->str, -E2BIG, field);
}

static void test_too_large(void)
{
        g_autofree char *reason = g_strnfill(1000, 'x');
        g_autoptr(GString) text = g_string_new("{\"AbsentReasons\": [\"x\"");

        for (unsigned i = 0; i <= ALD_RECORD_MAX / 1000; i++)
                g_string_append_printf(text, ", \"%s\"", reason);
        g_string_append(text, "]}");
        check_refused(ALD_KIND_SYSTEM, text->str, -E2BIG, NULL);
        check_many(ALD_KIND_SYSTEM, "AbsentReasons", "\"\"");
        check_many(ALD_KIND_NETWORK, "Interfaces", "{}");
}

static void test_what_is_unknown_is_skipped(void)
{
        g_autoptr(AldRecord) plain = read_record(ALD_KIND_DISK, "{\"Paths\": [{\"Id\": \"/\"}]}");
        g_autoptr(AldRecord)
                newer = read_record(ALD_KIND_DISK, "{\"Paths\": [{\"Id\": \"/\", \"InodesFree\": {\"a\": "
                                                   "[1]}}], \"Revision\": 5, \"Later\": null}");

        records_assert_same(plain, newer);
}

static AldUpdate random_update(AldRecord **ret_record, char **ret_key)
{
        AldUpdate update = {
                .node = id_make((unsigned) g_test_rand_int_range(1, 5)),
                .kind = (AldKind) g_test_rand_int_range(0, ALD_N_KINDS),
                .stamp = { (uint64_t) ALD_INTEGER_MAX - (uint64_t) g_test_rand_int_range(0, 2),
                        (uint64_t) g_test_rand_int_range(0, 3) },
                .updated_usec = (uint64_t) g_test_rand_int_range(0, 3),
        };
        AldId sink = id_make(7);

        *ret_key = ald_kinds[update.kind].is_link ? key_make(update.kind, &sink, 1) : g_strdup("");
        update.key = *ret_key;
        if (g_test_rand_bit())
                *ret_record = record_random_for(update.kind, &update.node, update.key);
        update.record = *ret_record;
        return update;
}

static void test_updates_round_trip(void)
{
        for (unsigned round = 0; round < 1000; round++) {
                g_autoptr(AldRecord) record = NULL;
                g_autoptr(AldRecord) record_again = NULL;
                g_autofree char *key = NULL, *key_again = NULL;
                AldUpdate update = random_update(&record, &key), again;
                g_autoptr(GString) text = g_string_new(NULL);
                AldJsonFault fault;

                ald_update_append_text(text, &update, true);
                g_assert_cmpint(
                        ald_update_from_text(text->str, text->len, false, &again, &key_again, &fault), ==, 0);
                g_assert_false(fault.has_unknown);
                record_again = again.record;
                g_assert_true(ald_id_equal(&again.node, &update.node));
                g_assert_cmpint(again.kind, ==, update.kind);
                g_assert_cmpstr(again.key, ==, update.key);
                g_assert_cmpuint(again.stamp.epoch, ==, update.stamp.epoch);
                g_assert_cmpuint(again.stamp.seq, ==, update.stamp.seq);
                g_assert_cmpuint(again.updated_usec, ==, update.updated_usec);
                g_assert_true(!again.record == !update.record);
                if (record)
                        records_assert_same(record, record_again);
        }
}

#define ID "0123456789abcdef0123456789abcdef"
#define ENVELOPE(node, kind, rest) \
        "{\"node\": \"" node "\", \"kind\": \"" kind "\", \"epoch\": 1, \"seq\": 2, \"updated\": 3" rest "}"

static void test_update_in_words(void)
{
        static const char text[] = ENVELOPE(
                ID, "Node1.Memory", ", \"fields\": {\"TotalBytes\": 5}, \"later\": 1");
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *key = NULL;
        AldUpdate update;

        g_assert_cmpint(ald_update_from_text(text, strlen(text), false, &update, &key, NULL), ==, 0);
        record = update.record;
        g_assert_cmpint(update.kind, ==, ALD_KIND_MEMORY);
        g_assert_cmpstr(update.key, ==, "");
        g_assert_cmpuint(update.stamp.epoch, ==, 1);
        g_assert_cmpuint(update.stamp.seq, ==, 2);
        g_assert_cmpuint(update.updated_usec, ==, 3);
        g_assert_cmpuint(ald_record_as(record, MEMORY, AldMemory)->total_bytes, ==, 5);
}

static void check_update_refused(const char *text, int error, const char *field)
{
        AldUpdate update = { .kind = ALD_N_KINDS };
        AldJsonFault fault;
        char *key = NULL;

        g_test_message("%.80s", text);
        g_assert_cmpint(ald_update_from_text(text, strlen(text), false, &update, &key, &fault), ==, error);
        g_assert_null(key);
        g_assert_cmpstr(fault.field, ==, field);
        g_assert_cmpint(update.kind, ==, ALD_N_KINDS);
}

static void test_updates_refused(void)
{
        check_update_refused("[]", -EBADMSG, NULL);
        check_update_refused("{}", -EBADMSG, "node");
        check_update_refused("{\"node\": \"" ID "\"}", -EBADMSG, "kind");
        check_update_refused("{\"node\": \"" ID "\", \"kind\": \"Node1.Memory\", \"epoch\": 1, \"seq\": 1}",
                -EBADMSG, "updated");
        check_update_refused(ENVELOPE("spark", "Node1.Memory", ", \"fields\": {}"), -EINVAL, "node");
        check_update_refused(ENVELOPE(ID, "Node1.Later", ", \"fields\": {}"), -ENOENT, "kind");
        check_update_refused(ENVELOPE(ID, "Node1.Memory", ""), -EBADMSG, "fields");
        check_update_refused(ENVELOPE(ID, "Node1.Memory", ", \"fields\": 5"), -EBADMSG, "fields");
        check_update_refused(
                ENVELOPE(ID, "Node1.Memory", ", \"fields\": {\"TotalBytes\": -1}"), -ERANGE, "TotalBytes");
        check_update_refused(ENVELOPE(ID, "Node1.Memory", ", \"deleted\": 1"), -EBADMSG, "deleted");
        check_update_refused(
                ENVELOPE(ID, "Node1.Memory", ", \"deleted\": true, \"key\": 5"), -EBADMSG, "key");
        check_update_refused("{\"node\": \"" ID
                             "\", \"kind\": \"Node1.Memory\", \"epoch\": 9007199254740993, "
                             "\"seq\": 1, \"updated\": 1}",
                -ERANGE, "epoch");
}

static void check_unloadable(const char *text, size_t n, int error, const char *words)
{
        g_autofree char *reason = NULL;
        json_t *json = NULL;

        g_assert_cmpint(ald_json_load(text, n, MAX_BYTES, &json, &reason), ==, error);
        g_assert_null(json);
        if (!strstr(reason, words))
                g_error("\"%s\" does not say \"%s\"", reason, words);
        g_assert_cmpint(ald_json_load(text, n, MAX_BYTES, &json, NULL), ==, error);
}

static void test_texts_refused(void)
{
        static const char with_nul[] = "{\"a\": 1}\0", nul_inside[] = "{\"a\": \"\0\"}";
        g_autofree char *large = g_strnfill(MAX_BYTES + 1, ' ');

        check_unloadable("", 0, -EBADMSG, "line 1");
        check_unloadable("{", 1, -EBADMSG, "line 1");
        check_unloadable("5", 1, -EBADMSG, "line 1");
        check_unloadable("{\"a\": 1} x", 10, -EBADMSG, "line 1, column 10");
        check_unloadable("{\"a\": 1,\n\"a\": 2}", 16, -EBADMSG, "line 2");
        check_unloadable("{\"a\": \"\\u0000\"}", 15, -EBADMSG, "line 1");
        check_unloadable(with_nul, sizeof with_nul - 1, -EBADMSG, "line 1");
        check_unloadable(nul_inside, sizeof nul_inside - 1, -EBADMSG, "line 1");
        check_unloadable("{\"a\": \"\xff\"}", 10, -EBADMSG, "line 1");
        check_unloadable("{\"a\": NaN}", 10, -EBADMSG, "line 1");
        check_unloadable("{\"a\": 99999999999999999999}", 27, -EBADMSG, "too big");
        check_unloadable(large, MAX_BYTES + 1, -E2BIG, "larger than 1048576 bytes");
}

/* Where such a text is refused, reading it straight into a record refuses it too, whatever the key. */
static void test_bad_texts(void)
{
        static const char *const bad[] = { "", " ", "{", "[", "5", "{} x", "{}{}", "{\"a\"}", "{\"a\":}",
                "{a:1}", "{,}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{\"a\":[1,]}", "{\"a\":[1 2]}",
                "{\"a\":[1}}", "{\"a\":01}", "{\"a\":-}", "{\"a\":+1}", "{\"a\":1.}", "{\"a\":.5}",
                "{\"a\":1e}", "{\"a\":1e+}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":1e999}",
                "{\"a\":9223372036854775808}", "{\"a\":-9223372036854775809}", "{\"a\":99999999999999999999}",
                "{\"a\":tru}", "{\"a\":True}", "{\"a\":nul}", "{\"a\":\"}", "{\"a\":\"\t\"}",
                "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\u0000\"}", "{\"\\u0000\":1}",
                "{\"a\":\"\\ud800\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\udc00\"}",
                "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xc0\x80\"}", "{\"a\":1,\"a\":2}",
                "{\"a\":1,\"\\u0061\":2}", "{\"x\":{\"a\":1,\"a\":2}}", "{\"a\":\"\\", "{\"a\":1,\"b\":2",
                "{\"TotalBytes\":1,\"TotalBytes\":1}", "{\"TotalBytes\":1,\"Total\\u0042ytes\":1}",
                "{\"TotalBytes\":1", "{\"TotalBytes\":00}", "{\"TotalBytes\" 1}", "\xef\xbb\xbf{}" };

        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *copy = g_memdup2(bad[i], strlen(bad[i])); /* no NUL behind it */
                g_autofree char *words = NULL;
                AldRecord *record = NULL;
                AldJsonFault fault = { 0 };
                json_t *json = NULL;
                int r;

                g_test_message("%s", bad[i]);
                g_assert_cmpint(ald_json_load(copy, strlen(bad[i]), MAX_BYTES, &json, NULL), ==, -EBADMSG);
                r = ald_record_from_text(ALD_KIND_MEMORY, copy, strlen(bad[i]), &record, &fault);
                g_assert_cmpint(r, ==, -EBADMSG);
                g_assert_null(record);
                g_assert_null(fault.field);
                words = ald_json_fault_describe(&fault, r);
                g_assert_true(g_utf8_validate(words, -1, NULL));
        }
}

static void test_good_texts(void)
{
        static const char *const good[] = { "{}", " {\n\t\"a\" : [ 1 , -0 , 2.5E-3 , 1e5 ] ,\r\"b\":{} } ",
                "{\"a\":[[],{\"a\":null}],\"b\":[true,false]}", "{\"\":1}", "{\"a\":9223372036854775807}",
                "{\"a\":-9223372036854775808}", "{\"a\":1e-999}", "{\"a\":\"\x7f\"}",
                "{\"a\":\"\xef\xbf\xbf\"}" };

        for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autoptr(AldRecord) record = NULL;

                g_test_message("%s", good[i]);
                g_assert_cmpint(
                        ald_record_from_text(ALD_KIND_MEMORY, good[i], strlen(good[i]), &record, NULL), ==,
                        0);
        }
}

static void check_string(const char *written, const char *meant)
{
        g_autofree char *text = g_strdup_printf("{\"ModelId\":\"%s\"}", written);
        g_autoptr(AldRecord) record = read_record(ALD_KIND_IDENTITY, text);

        g_assert_cmpstr(ald_record_as(record, IDENTITY, AldIdentity)->model_id, ==, meant);
}

static void test_escapes(void)
{
        check_string("\\\"\\\\\\/x", "\"\\/x");
        check_string("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac");
        check_string("\\ud83d\\ude00!", "\xf0\x9f\x98\x80!");
        check_string("\xc3\xa9", "\xc3\xa9");
        g_autoptr(AldRecord) record = read_record(ALD_KIND_MEMORY, "{\"Total\\u0042ytes\": 5}");
        g_assert_cmpuint(ald_record_as(record, MEMORY, AldMemory)->total_bytes, ==, 5);
}

/* What a peer writes goes to terminals, logs and mail. */
static void test_unsafe_characters(void)
{
        g_autofree char *longest = g_strnfill(ALD_STRING_MAX - 1, 'x');
        g_autofree char *grown = g_strdup_printf("{\"ModelId\": \"%s\\n\"}", longest);
        g_autoptr(AldRecord) record = NULL;

        check_string("a\\b\\f\\n\\r\\t", "a�����");
        check_string("\\u001b[31mred\\u0007", "�[31mred�");
        check_string("a\x7f"
                     "b",
                "a�b");
        check_string("\u202egnp.exe", "�gnp.exe");
        check_string("\\u202e\\u2028\\u009b", "���");
        check_string("\u00ad\u200b\ufeff", "���");
        check_string("日本語 e\u0301", "日本語 e\u0301");
        /* Characters without a glyph, of private use, and undefined. */
        check_string("\u3164\u115f\u1160\uffa0\u2800", "�����");
        check_string("a\ue000\U000f0000\u0378", "a���");
        record = read_record(ALD_KIND_SYSTEM, "{\"AbsentReasons\": [\"a\\nb\", \"c\"]}");
        g_assert_cmpstr(ald_record_as(record, SYSTEM, AldSystem)->absent_reasons[0], ==, "a�b");
        check_refused(ALD_KIND_IDENTITY, grown, -ERANGE, "ModelId");
}

/* What names of real languages need is kept: marks of Hindi, Thai, Tibetan and Hebrew, and selectors of the
 * look of a symbol. */
static void test_marks(void)
{
        static const char *const kept[] = { "क्षत्रिय-१", "ที่นี่", "བསྒྲུབས", "שָׁלוֹם", "Việt",
                "node ❤\ufe0f 1\ufe0f\u20e3", "🖥\ufe0f🚀", "한국어",
                "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308" };

        for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
                check_string(kept[i], kept[i]);
        check_string("e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a"
                     "f\u0301",
                "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308"
                "f\u0301");
}

/* The same double as the library's, by either way. */
static void test_reals(void)
{
        for (unsigned i = 0; i < 20000; i++) {
                g_autofree char *text = NULL, *number = NULL;
                g_autoptr(AldRecord) record = NULL;
                double exact = g_test_rand_double() * pow(10, g_test_rand_int_range(-30, 30));

                number = g_strdup_printf(
                        "%s%.*g", g_test_rand_bit() ? "-" : "", g_test_rand_int_range(1, 20), exact);
                text = g_strdup_printf("{\"CpuUsage\":%s}", number);
                if (!strpbrk(number, ".e") && strlen(number) > 18) /* no real, and no integer of 64 bits */
                        continue;
                record = read_record(ALD_KIND_SYSTEM, text);
                g_assert_cmpfloat(ald_record_as(record, SYSTEM, AldSystem)->cpu_usage, ==,
                        g_ascii_strtod(number, NULL));
        }
}

static char *written_usage(double usage)
{
        AldSystem system = ALD_SYSTEM_INIT;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(AldRecord) record = NULL;
        g_autoptr(AldRecord) again = NULL;
        g_autofree char *key = NULL;
        AldUpdate update = { .kind = ALD_KIND_SYSTEM, .key = "", .node = id_make(1) };
        const char *number;

        system.cpu_usage = usage;
        record = record_make(ALD_KIND_SYSTEM, &system);
        update.record = record;
        ald_update_append_text(text, &update, true);
        g_assert_cmpint(ald_update_from_text(text->str, text->len, false, &update, &key, NULL), ==, 0);
        again = update.record;
        g_assert_cmpfloat(ald_record_as(again, SYSTEM, AldSystem)->cpu_usage, ==, usage);
        number = strstr(text->str, "\"CpuUsage\":") + strlen("\"CpuUsage\":");
        return g_strndup(number, strcspn(number, ",}"));
}

/* Written numbers are short, and read as the same double. */
static void test_written_reals(void)
{
        static const struct {
                double number;
                const char *text;
        } numbers[] = { { 0, "0" }, { 5, "5" }, { -2.5, "-2.5" }, { 0.37, "0.37" }, { 0.000001, "0.000001" },
                { 100.05, "100.05" }, { 999999999.5, "999999999.5" }, { -0.0, "0" },
                { 0x1p70, "1.1805916207174113e+21" } };

        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
                g_autofree char *text = written_usage(numbers[i].number);

                g_assert_cmpstr(text, ==, numbers[i].text);
        }
        for (unsigned i = 0; i < 20000; i++) {
                double number = g_test_rand_double() * pow(10, g_test_rand_int_range(-12, 20));

                g_free(written_usage(g_test_rand_bit() ? number : -number));
                g_free(written_usage(rint(number * 1e6) / 1e6));
        }
}

/* The fields may come before the kind, and mean nothing where the record was deleted. */
static void test_updates_in_any_order(void)
{
        static const char early[] = "{\"fields\":{\"TotalBytes\":5},\"key\":\"\",\"updated\":3,\"seq\":2,"
                                    "\"node\":\"" ID "\",\"epoch\":1,\"kind\":\"Node1.Memory\"}";
        static const char deleted[] = ENVELOPE(ID, "Node1.Memory", ", \"deleted\": true, \"fields\": 5");
        g_autofree char *key = NULL, *key_deleted = NULL;
        g_autoptr(AldRecord) record = NULL;
        AldUpdate update;

        g_assert_cmpint(ald_update_from_text(early, strlen(early), false, &update, &key, NULL), ==, 0);
        record = update.record;
        g_assert_cmpuint(ald_record_as(record, MEMORY, AldMemory)->total_bytes, ==, 5);
        g_assert_cmpuint(update.stamp.seq, ==, 2);
        g_assert_true(ald_id_equal(&update.node, &(AldId){ { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                                         0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef } }));
        g_assert_cmpint(
                ald_update_from_text(deleted, strlen(deleted), false, &update, &key_deleted, NULL), ==, 0);
        g_assert_null(update.record);
        check_update_refused("{\"fields\":{\"TotalBytes\":-5},\"updated\":3,\"seq\":2,\"node\":\"" ID
                             "\",\"epoch\":1,\"kind\":\"Node1.Memory\"}",
                -ERANGE, "TotalBytes");
}

static char *nested(unsigned depth)
{
        g_autofree char *open = g_strnfill(depth, '['), *close = g_strnfill(depth, ']');

        return g_strconcat(open, close, NULL);
}

static void test_depth(void)
{
        static const char brackets_in_string[] =
                "{\"[[[[[[[[[[[[[[[[[[[[\\\"[[\": \"{{{{{{{{{{{{{{{{{{{{{{\\\\\"}";
        g_autofree char *deepest = nested(ALD_JSON_MAX_DEPTH), *too_deep = nested(ALD_JSON_MAX_DEPTH + 1);
        g_autofree char *absurd = nested(MAX_BYTES / 2);
        g_autoptr(GString) wide = g_string_new("[");
        json_t *json;

        json_decref(load(deepest));
        check_unloadable(too_deep, strlen(too_deep), -EBADMSG, "deeper than 16");
        check_unloadable(absurd, strlen(absurd), -EBADMSG, "deeper than 16");
        json_decref(load(brackets_in_string));
        for (unsigned i = 0; i < 1000; i++)
                g_string_append(wide, "[{}],");
        g_string_append(wide, "[]]");
        json = load(wide->str);
        g_assert_cmpuint(json_array_size(json), ==, 1001);
        json_decref(json);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/json/round-trip", test_round_trip);
        g_test_add_func("/json/rows-beyond-the-maximum", test_rows_beyond_the_maximum);
        g_test_add_func("/json/holders-beyond-the-maximum", test_holders_beyond_the_maximum);
        g_test_add_func("/json/names-are-those-of-the-bus", test_names_are_those_of_the_bus);
        g_test_add_func("/json/absent-is-not-there", test_absent_is_not_there);
        g_test_add_func("/json/not-a-number-becomes-absent", test_not_a_number_becomes_absent);
        g_test_add_func("/json/integers-survive", test_integers_survive);
        g_test_add_func("/json/integer-and-real-for-each-other", test_integer_and_real_for_each_other);
        g_test_add_func("/json/out-of-range", test_out_of_range);
        g_test_add_func("/json/long-strings", test_long_strings);
        g_test_add_func("/json/wrong-types", test_wrong_types);
        g_test_add_func("/json/too-large", test_too_large);
        g_test_add_func("/json/what-is-unknown-is-skipped", test_what_is_unknown_is_skipped);
        g_test_add_func("/json/updates-round-trip", test_updates_round_trip);
        g_test_add_func("/json/update-in-words", test_update_in_words);
        g_test_add_func("/json/updates-refused", test_updates_refused);
        g_test_add_func("/json/texts-refused", test_texts_refused);
        g_test_add_func("/json/depth", test_depth);
        g_test_add_func("/json/bad-texts", test_bad_texts);
        g_test_add_func("/json/good-texts", test_good_texts);
        g_test_add_func("/json/escapes", test_escapes);
        g_test_add_func("/json/unsafe-characters", test_unsafe_characters);
        g_test_add_func("/json/marks", test_marks);
        g_test_add_func("/json/reals", test_reals);
        g_test_add_func("/json/written-reals", test_written_reals);
        g_test_add_func("/json/updates-in-any-order", test_updates_in_any_order);
        return g_test_run();
}
