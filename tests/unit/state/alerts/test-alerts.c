/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alert-accounts.h"
#include "state/alerts/alert-key.h"
#include "state/alerts/alerts-saved.h"
#include "tests/unit/findings-check.h"

#define SECOND (UINT64_C(1000) * 1000)
#define START FINDINGS_NOW

/* Findings as they are at some time, and what follows. */
typedef struct Watch {
        AldAlerts *alerts;
        uint64_t now;
        GString *log; /* "+id" and "-id" */
} Watch;

static void watch_init(Watch *watch)
{
        *watch = (Watch){ .alerts = ald_alerts_new(), .now = START, .log = g_string_new(NULL) };
}

static void watch_clear(Watch *watch)
{
        ald_alerts_free(watch->alerts);
        g_string_free(watch->log, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Watch, watch_clear)

static const char *const node_ids[] = { "00000001000000000000000000000000",
        "00000002000000000000000000000000", "00000003000000000000000000000000" };

#define ROW(ID, ...)                                                                     \
        &(AldFindingRow)                                                                 \
        {                                                                                \
                .id = ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_##ID), __VA_ARGS__ \
        }
#define OF(...)                        \
        .nodes = (const char *const[]) \
        {                              \
                __VA_ARGS__, NULL      \
        }
#define ONE node_ids[0]
#define TWO node_ids[1]
#define THREE node_ids[2]

#define EXPIRED .remaining_usec = 1 /* µs */

/* In the rows of these tests, numbers that are 0 are absent. */
static AldFindingRow *complete(const AldFindingRow *row)
{
        AldFindingRow all = ALD_FINDING_ROW_INIT;

        for (size_t i = 0; i < ald_finding_row_struct.n_fields; i++) {
                const AldField *field = &ald_finding_row_struct.fields[i];
                const void *value = ald_field_of(field, row);

                if (field->type == ALD_TYPE_STRING || field->type == ALD_TYPE_STRV ||
                        (field->type == ALD_TYPE_UINT64 && *(const uint64_t *) value > 0))
                        ald_field_copy(field, &all, row);
        }
        if (row->remaining_usec == 1)
                all.remaining_usec = 0;
        return ald_struct_dup(&ald_finding_row_struct, &all);
}

/* An update after some seconds, with rows that end with NULL. */
static void look(Watch *watch, unsigned seconds, const AldFindingRow *row, ...)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) notices = NULL;
        va_list ap;

        watch->now += seconds * SECOND;
        va_start(ap, row);
        for (; row; row = va_arg(ap, const AldFindingRow *))
                g_ptr_array_add(rows, complete(row));
        va_end(ap);
        notices = ald_alerts_update(watch->alerts, rows, NULL, watch->now);
        for (guint i = 0; i < notices->len; i++) {
                const AldAlertNotice *notice = &g_array_index(notices, AldAlertNotice, i);

                g_string_append_printf(
                        watch->log, "%c%s ", notice->begins ? '+' : '-', notice->alert->row->id);
        }
}

#define check(watch, expected)                                    \
        do {                                                      \
                g_assert_cmpstr((watch)->log->str, ==, expected); \
                g_string_truncate((watch)->log, 0);               \
        } while (0)

#define LINK(ID, FROM, TO) ROW(ID, OF(FROM, TO), .interface = "eth0", .address = "192.0.2.1")

static void test_begin_and_end(void)
{
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0, ROW(SWAP_NEARLY_FULL, OF(ONE), .available_bytes = 7), NULL);
        check(&watch, "");
        g_assert_cmpuint(ald_alerts_due(watch.alerts), ==, START + ALD_ALERT_BEGIN_USEC);
        look(&watch, 30, ROW(SWAP_NEARLY_FULL, OF(ONE), .available_bytes = 6), NULL);
        check(&watch, "+swap-nearly-full ");
        look(&watch, 30, ROW(SWAP_NEARLY_FULL, OF(TWO), .available_bytes = 6), NULL);
        look(&watch, 300, ROW(SWAP_NEARLY_FULL, OF(TWO), .available_bytes = 6), NULL);
        check(&watch, "+swap-nearly-full -swap-nearly-full ");
}

static void test_symptoms_are_hidden(void)
{
        const AldFindingRow *offline = ROW(NODE_OFFLINE, OF(TWO));
        const AldFindingRow *link = LINK(LINK_UNSTEADY, ONE, TWO), *other = LINK(LINK_UNSTEADY, ONE, THREE);
        g_auto(Watch) watch = {};
        g_autoptr(GPtrArray) begun = NULL;

        watch_init(&watch);
        look(&watch, 0, offline, link, other, NULL);
        look(&watch, 30, offline, link, other, NULL);
        check(&watch, "+link-unsteady +node-offline ");
        begun = ald_alerts_begun(watch.alerts);
        g_assert_cmpuint(begun->len, ==, 2);
        g_assert_cmpuint(((const AldAlert *) begun->pdata[1])->symptoms, ==, 1);
}

/* The link is not found while its node is offline, which does not mean that it is well. */
static void test_a_cause_does_not_end_its_symptoms(void)
{
        const AldFindingRow *offline = ROW(NODE_OFFLINE, OF(TWO)), *link = LINK(LINK_UNSTEADY, ONE, TWO);
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0, link, NULL);
        look(&watch, 30, link, NULL);
        check(&watch, "+link-unsteady ");
        look(&watch, 30, offline, NULL);
        look(&watch, 3600, offline, NULL);
        check(&watch, "+node-offline ");
        look(&watch, 10, link, NULL);
        look(&watch, 300, link, NULL);
        check(&watch, "-node-offline ");
        look(&watch, 10, NULL, NULL);
        look(&watch, 600, NULL, NULL);
        check(&watch, "-link-unsteady ");
}

static void test_causes(void)
{
        const struct {
                const AldFindingRow *cause, *effect;
                bool hides;
        } cases[] = {
                { ROW(CERTIFICATE_EXPIRES, OF(TWO), EXPIRED), ROW(NODE_OFFLINE, OF(TWO)), true },
                { ROW(CERTIFICATE_EXPIRES, OF(TWO), .remaining_usec = 9), ROW(NODE_OFFLINE, OF(TWO)), false },
                { ROW(CERTIFICATE_EXPIRES, OF(ONE), EXPIRED), ROW(NODE_OFFLINE, OF(TWO)), false },
                { ROW(NO_BROKER, OF(ONE)), ROW(NODES_UNKNOWN, OF(TWO, THREE)), true },
                { ROW(CLOCK_SKEW, OF(TWO)), ROW(NODE_RECORDS_OLD, OF(TWO)), true },
                { ROW(CLOCK_SKEW, OF(THREE)), ROW(NODE_RECORDS_OLD, OF(TWO)), false },
                { ROW(DEVICE_WITHOUT_DRIVER, OF(ONE), .device = "a"),
                        ROW(DEVICE_NEVER_FREE, OF(ONE), .device = "a"), true },
                { ROW(DEVICE_WITHOUT_DRIVER, OF(ONE), .device = "b"),
                        ROW(DEVICE_NEVER_FREE, OF(ONE), .device = "a"), false },
                { ROW(RDMA_UNUSABLE, OF(TWO), .port = "mlx5_0.1"),
                        ROW(LINK_PROBE_FAILING, OF(ONE, TWO), .port = "mlx4_0.1", .sink_port = "mlx5_0.1"),
                        true },
                { ROW(RDMA_UNUSABLE, OF(TWO), .port = "mlx4_0.1"),
                        ROW(LINK_PROBE_FAILING, OF(ONE, TWO), .port = "mlx4_0.1", .sink_port = "mlx5_0.1"),
                        false },
                { LINK(LINK_PROBE_FAILING, ONE, TWO), LINK(LINK_BELOW_NEGOTIATED, ONE, TWO), true },
                { LINK(LINK_PROBE_FAILING, TWO, ONE), LINK(LINK_BELOW_NEGOTIATED, ONE, TWO), false },
                { LINK(LINK_BELOW_NEGOTIATED, TWO, ONE), LINK(LINK_ASYMMETRIC, ONE, TWO), true },
                { ROW(DUPLICATE_NODE_ID, OF(TWO)), ROW(DISK_NEARLY_FULL, OF(TWO), .path = "/"), true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                bool first = strcmp(cases[i].cause->id, cases[i].effect->id) < 0;
                g_autofree char *both = g_strdup_printf("+%s +%s ",
                        first ? cases[i].cause->id : cases[i].effect->id,
                        first ? cases[i].effect->id : cases[i].cause->id);
                g_autofree char *one = g_strdup_printf("+%s ", cases[i].cause->id);
                g_auto(Watch) watch = {};

                watch_init(&watch);
                look(&watch, 0, cases[i].effect, cases[i].cause, NULL);
                look(&watch, 30, cases[i].effect, cases[i].cause, NULL);
                check(&watch, cases[i].hides ? one : both);
        }
}

/* What the service leaves out has not ended. */
static void test_left_out(void)
{
        const AldFindingRow *full = ROW(DISK_NEARLY_FULL, OF(ONE), .path = "/");
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0, full, NULL);
        look(&watch, 30, full, NULL);
        look(&watch, 30, ROW(DISK_NEARLY_FULL, .left_out = 3), NULL);
        look(&watch, 3600, ROW(DISK_NEARLY_FULL, .left_out = 3), NULL);
        check(&watch, "+disk-nearly-full ");
        look(&watch, 30, NULL, NULL);
        look(&watch, 300, NULL, NULL);
        check(&watch, "-disk-nearly-full ");
}

static void test_identity(void)
{
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0, ROW(OS_VERSIONS_DIFFER, OF(ONE, TWO)), LINK(LINK_ASYMMETRIC, ONE, TWO),
                LINK(LINK_UNSTEADY, ONE, TWO), NULL);
        look(&watch, 30, ROW(OS_VERSIONS_DIFFER, OF(ONE, TWO, THREE)), LINK(LINK_ASYMMETRIC, TWO, ONE),
                LINK(LINK_UNSTEADY, TWO, ONE), NULL);
        check(&watch, "+link-asymmetric +os-versions-differ ");
}

/* The way back is news, too; the measurement that follows an estimate is none. */
static void test_rate_changes_and_changes_back(void)
{
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 190,
                        .upload.bits_per_second = 114),
                NULL);
        look(&watch, 30,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 190,
                        .download.bits_per_second = 115, .measured_usec = 5),
                NULL);
        check(&watch, "+link-rate-changed ");
        look(&watch, 60,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 115,
                        .upload.bits_per_second = 189),
                NULL);
        look(&watch, 30,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 115,
                        .upload.bits_per_second = 190),
                NULL);
        check(&watch, "+link-rate-changed ");
}

/* At any point, as if there had been no restart. */
static void test_restart(void)
{
        for (unsigned at = 0; at < 12; at++) {
                g_auto(Watch) watch = {}, same = {};
                const AldFindingRow *link = LINK(LINK_UNSTEADY, ONE, TWO);

                watch_init(&watch);
                watch_init(&same);
                for (unsigned i = 0; i < 12; i++) {
                        bool exists = i < 3 || i == 5;

                        look(&watch, 90, exists ? link : NULL, NULL);
                        look(&same, 90, exists ? link : NULL, NULL);
                        if (i == at) {
                                g_autofree char *text = ald_alerts_format(watch.alerts), *again = NULL;

                                ald_alerts_free(g_steal_pointer(&watch.alerts));
                                g_assert_cmpint(
                                        ald_alerts_parse(text, strlen(text), &watch.alerts, NULL), ==, 0);
                                again = ald_alerts_format(watch.alerts);
                                g_assert_cmpstr(again, ==, text);
                        }
                        g_assert_cmpstr(watch.log->str, ==, same.log->str);
                }
                check(&same, "+link-unsteady -link-unsteady ");
        }
}

static void test_invalid_texts(void)
{
        static const char *const texts[] = { "", "[]", "{}", "{\"version\":2,\"updated\":0,\"alerts\":[]}",
                "{\"version\":1,\"updated\":-1,\"alerts\":[]}",
                "{\"version\":1,\"updated\":0,\"alerts\":[7]}",
                "{\"version\":1,\"updated\":0,\"alerts\":[{\"finding\":{},\"present\":true,\"begun\":true,"
                "\"changed\":1,\"flapped\":1,\"flaps\":0,\"first\":1}]}",
                "{\"version\":1,\"updated\":0,\"alerts\":[{\"finding\":{\"Id\":\"x\"},\"present\":true,"
                "\"begun\":true,\"changed\":1,\"flapped\":1,\"flaps\":8,\"first\":1}]}" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *reason = NULL;
                AldAlerts *alerts = NULL;

                g_assert_cmpint(ald_alerts_parse(texts[i], strlen(texts[i]), &alerts, &reason), ==, -EBADMSG);
                g_assert_nonnull(reason);
                g_assert_null(alerts);
        }
}

/* Findings that came once must not keep others out. */
static void test_limit(void)
{
        g_autoptr(AldAlerts) alerts = ald_alerts_new();
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free), none = g_ptr_array_new();
        guint n = ALD_ALERTS_MAX + 5;

        for (guint round = 0; round < 2; round++) {
                g_ptr_array_set_size(rows, 0);
                for (guint i = 0; i < n; i++) {
                        AldFindingRow row = ALD_FINDING_ROW_INIT;
                        g_autofree char *path = g_strdup_printf("/%u/%u", round, i);

                        row.id = "disk-nearly-full";
                        row.path = path;
                        g_ptr_array_add(rows, ald_struct_dup(&ald_finding_row_struct, &row));
                }
                g_array_unref(ald_alerts_update(alerts, rows, NULL, START + 2 * round * SECOND));
                g_assert_cmpuint(ald_alerts_left_out(alerts), ==, 5);
                g_array_unref(ald_alerts_update(alerts, none, NULL, START + (2 * round + 1) * SECOND));
                g_assert_cmpuint(ald_alerts_left_out(alerts), ==, 0);
        }
}

#define LIAR node_ids[2]

static void add_disks(GPtrArray *rows, const char *reporter, unsigned first, unsigned n)
{
        for (unsigned i = first; i < first + n; i++) {
                g_autofree char *path = g_strdup_printf("/%u", i);
                const char *const nodes[] = { reporter, NULL };
                AldFindingRow row = ALD_FINDING_ROW_INIT;

                row.id = "disk-nearly-full";
                row.path = path;
                row.nodes = nodes;
                row.reporter = reporter;
                g_ptr_array_add(rows, ald_struct_dup(&ald_finding_row_struct, &row));
        }
}

static bool has_disk(AldAlerts *alerts, const char *node, unsigned number)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *key = NULL;

        add_disks(rows, node, number, 1);
        key = ald_alert_key(rows->pdata[0]);
        return ald_alerts_has(alerts, key);
}

static unsigned count_ends(AldAlerts *alerts, const GPtrArray *rows, uint64_t now)
{
        g_autoptr(GArray) notices = ald_alerts_update(alerts, rows, NULL, now);
        unsigned n = 0;

        for (guint i = 0; i < notices->len; i++) {
                const AldAlertNotice *notice = &g_array_index(notices, AldAlertNotice, i);

                g_assert_true(notice->begins || notice->at_usec == now);
                g_assert_true(notice->begins || !ald_alerts_has(alerts, notice->alert->key));
                n += !notice->begins;
        }
        return n;
}

/* A node that reports ever new findings leaves out its own; another one still gets its share, and what was
 * begun of the liar's ends. Nothing takes a place back and forth. */
static void test_shares(void)
{
        g_autoptr(AldAlerts) alerts = ald_alerts_new();
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
        const unsigned n = ALD_ALERTS_MAX;
        uint64_t now = START;

        add_disks(rows, ONE, 0, 10);
        add_disks(rows, LIAR, 0, n + 100);
        g_array_unref(ald_alerts_update(alerts, rows, NULL, now));
        g_assert_cmpuint(ald_alerts_left_out(alerts), ==, 110);
        g_array_unref(ald_alerts_update(alerts, rows, NULL, now += 30 * SECOND));
        add_disks(rows, TWO, 0, 200);
        for (unsigned i = 0; i < 3; i++) {
                g_assert_cmpuint(count_ends(alerts, rows, now += SECOND), ==, i == 0 ? 200 : 0);
                g_assert_cmpuint(ald_alerts_left_out(alerts), ==, i == 0 ? 110 : 310);
        }
        for (unsigned i = 0; i < 200; i++)
                g_assert_true(has_disk(alerts, TWO, i) && (i >= 10 || has_disk(alerts, ONE, i)));
        /* Two that have the same share keep it. */
        add_disks(rows, TWO, 200, n);
        for (unsigned i = 0; i < 3; i++) {
                g_assert_cmpuint(count_ends(alerts, rows, now += SECOND), <=, i == 0 ? n : 0);
        }
        g_assert_true(has_disk(alerts, ONE, 9) && has_disk(alerts, TWO, n / 2 - 10));
        g_assert_true(has_disk(alerts, LIAR, n / 2 - 10) && !has_disk(alerts, LIAR, n / 2));
        g_assert_cmpuint(ald_alerts_left_out(alerts), ==, rows->len - n);
}

/* What only remembers that it has flapped goes first, of the account that is to make room. */
static void test_shares_of_idle(void)
{
        g_autoptr(AldAlerts) alerts = ald_alerts_new();
        g_autoptr(GPtrArray) one = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) liar = g_ptr_array_new_with_free_func(g_free);

        add_disks(one, ONE, 0, 10);
        g_array_unref(ald_alerts_update(alerts, one, NULL, START));
        for (unsigned i = 0; i < 3; i++) {
                g_ptr_array_set_size(liar, 0);
                add_disks(liar, LIAR, i * ALD_ALERTS_MAX / 2, ALD_ALERTS_MAX / 2);
                g_array_unref(ald_alerts_update(alerts, liar, NULL, START + (2 * i + 1) * SECOND));
                g_array_unref(ald_alerts_update(alerts, liar, NULL, START + (2 * i + 2) * SECOND));
                g_assert_cmpuint(ald_alerts_left_out(alerts), ==, 0);
        }
        g_assert_true(has_disk(alerts, ONE, 0) && has_disk(alerts, ONE, 9));
}

/* Long findings count more, also those that grow; so a limit of the number limits the memory and the file. */
static void test_long_findings(void)
{
        g_autofree char *path = g_strnfill(1000 * ALD_ALERT_BYTES, 'x'), *text = NULL;
        const AldFindingRow *full = ROW(DISK_NEARLY_FULL, OF(ONE), .reporter = ONE, .path = "/");
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(AldAlerts) alerts = ald_alerts_new(), again = NULL;
        g_autofree char *reason = NULL, *key = NULL;

        g_ptr_array_add(rows, complete(full));
        key = ald_alert_key(rows->pdata[0]);
        for (unsigned i = 0; i < 20; i++) {
                g_autofree char *group = g_strdup_printf("%u", i);

                g_ptr_array_add(rows, complete(ROW(CONFIGURATION_REFUSED, OF(LIAR), .reporter = LIAR,
                                              .reason = i < 5 ? path : "", .group = group)));
        }
        g_array_unref(ald_alerts_update(alerts, rows, NULL, START));
        g_assert_cmpuint(ald_alerts_left_out(alerts), ==, 0);
        g_ptr_array_set_size(rows, 1);
        for (unsigned i = 0; i < 20; i++) {
                g_autofree char *group = g_strdup_printf("%u", i);

                g_ptr_array_add(rows, complete(ROW(CONFIGURATION_REFUSED, OF(LIAR), .reporter = LIAR,
                                              .reason = path, .group = group)));
        }
        for (unsigned i = 1; i < 4; i++) {
                g_array_unref(ald_alerts_update(alerts, rows, NULL, START + i * SECOND));
                g_assert_cmpuint(ald_alerts_left_out(alerts), ==, i == 1 ? 0 : 11);
        }
        g_assert_true(ald_alerts_has(alerts, key));
        text = ald_alerts_format(alerts);
        g_assert_cmpuint(strlen(text), <, ALD_ALERTS_SAVED_MAX);
        g_assert_cmpint(ald_alerts_parse(text, strlen(text), &again, &reason), ==, 0);
        g_assert_true(ald_alerts_has(again, key));
}

/* An older version saved as many alerts as this one, however long. What fits is read. */
static void test_more_saved_than_fits(void)
{
        g_autofree char *words = g_strnfill(ALD_ALERT_BYTES / 2, 'x'), *error = NULL;
        g_autoptr(GString) saved = g_string_new("{\"version\":1,\"updated\":1,\"alerts\":[");
        g_autoptr(AldAlerts) alerts = NULL;
        const char *one = "{\"present\":true,\"begun\":true,\"changed\":1,\"flapped\":1,\"flaps\":0,"
                          "\"first\":1,\"finding\":{";

        for (unsigned i = 0; i < ALD_ALERTS_MAX - 1; i++)
                g_string_append_printf(saved,
                        "%s\"Id\":\"configuration-refused\",\"Reporter\":\"%s\",\"Group\":\"%u\","
                        "\"Reason\":\"%s\",\"Text\":\"%s\"}},",
                        one, LIAR, i, words, words);
        g_string_append_printf(saved, "%s\"Id\":\"no-broker\"}}]}", one);
        g_assert_cmpint(ald_alerts_parse(saved->str, saved->len, &alerts, &error), ==, 0);
        g_assert_cmpuint(ald_alerts_left_out(alerts), ==, ALD_ALERTS_MAX / 2);
        g_assert_true(ald_alerts_has(alerts, "no-broker"));
}

/* The key of a long path is short, and that of another one differs. */
static void test_long_keys(void)
{
        g_autofree char *path = g_strnfill(5000, 'x'), *other = g_strconcat(path, "y", NULL);
        g_autofree char *one = ald_alert_key(ROW(DISK_NEARLY_FULL, OF(ONE), .path = path));
        g_autofree char *two = ald_alert_key(ROW(DISK_NEARLY_FULL, OF(ONE), .path = other));

        g_assert_cmpuint(strlen(one), <, 200);
        g_assert_true(g_str_has_prefix(one, "disk-nearly-full\nNode="
                                            "00000001"));
        g_assert_cmpstr(one, !=, two);
}

/* What is left out of one reporter says nothing about those of others. */
static void test_left_out_of_a_reporter(void)
{
        const AldFindingRow *full = ROW(DISK_NEARLY_FULL, OF(ONE), .reporter = ONE, .path = "/");
        const AldFindingRow *lie = ROW(DISK_NEARLY_FULL, OF(LIAR), .reporter = LIAR, .path = "/");
        const AldFindingRow *rest = ROW(DISK_NEARLY_FULL, .reporter = LIAR, .left_out = 3);
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0, full, lie, rest, NULL);
        look(&watch, 30, full, lie, rest, NULL);
        check(&watch, "+disk-nearly-full +disk-nearly-full ");
        look(&watch, 30, rest, NULL);
        look(&watch, 300, rest, NULL);
        check(&watch, "-disk-nearly-full ");
        look(&watch, 30, NULL, NULL);
        look(&watch, 300, NULL, NULL);
        check(&watch, "-disk-nearly-full ");
}

static void test_a_clock_that_is_set_back(void)
{
        const AldFindingRow *full = ROW(DISK_NEARLY_FULL, OF(ONE), .path = "/");
        g_auto(Watch) watch = {};

        watch_init(&watch);
        look(&watch, 0, full, NULL);
        watch.now = SECOND;
        look(&watch, 0, full, NULL);
        check(&watch, "");
        look(&watch, 30, full, NULL);
        check(&watch, "+disk-nearly-full ");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/alerts/begin-and-end", test_begin_and_end);
        g_test_add_func("/alerts/symptoms-are-hidden", test_symptoms_are_hidden);
        g_test_add_func("/alerts/a-cause-does-not-end-its-symptoms", test_a_cause_does_not_end_its_symptoms);
        g_test_add_func("/alerts/causes", test_causes);
        g_test_add_func("/alerts/left-out", test_left_out);
        g_test_add_func("/alerts/identity", test_identity);
        g_test_add_func("/alerts/rate-changed", test_rate_changes_and_changes_back);
        g_test_add_func("/alerts/restart", test_restart);
        g_test_add_func("/alerts/invalid-texts", test_invalid_texts);
        g_test_add_func("/alerts/limit", test_limit);
        g_test_add_func("/alerts/shares", test_shares);
        g_test_add_func("/alerts/shares-of-idle", test_shares_of_idle);
        g_test_add_func("/alerts/long-findings", test_long_findings);
        g_test_add_func("/alerts/more-saved-than-fits", test_more_saved_than_fits);
        g_test_add_func("/alerts/long-keys", test_long_keys);
        g_test_add_func("/alerts/left-out-of-a-reporter", test_left_out_of_a_reporter);
        g_test_add_func("/alerts/a-clock-that-is-set-back", test_a_clock_that_is_set_back);
        return g_test_run();
}
