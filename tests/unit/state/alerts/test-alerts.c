/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alerts-saved.h"
#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

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
                        .upload_bits_per_second = 114),
                NULL);
        look(&watch, 30,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 190,
                        .download_bits_per_second = 115, .measured_usec = 5),
                NULL);
        check(&watch, "+link-rate-changed ");
        look(&watch, 60,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 115,
                        .upload_bits_per_second = 189),
                NULL);
        look(&watch, 30,
                ROW(LINK_RATE_CHANGED, OF(ONE, TWO), .address = "192.0.2.2", .past_bits_per_second = 115,
                        .upload_bits_per_second = 190),
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
        g_test_add_func("/alerts/a-clock-that-is-set-back", test_a_clock_that_is_set_back);
        return g_test_run();
}
