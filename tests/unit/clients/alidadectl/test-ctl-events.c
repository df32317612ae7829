/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <time.h>

#include "clients/alidadectl/text/event-text.h"
#include "clients/command-line/terminal-text.h"

/* 2026-11-26 12:00:00 UTC */
#define NOON (UINT64_C(1795694400) * G_USEC_PER_SEC)
#define MINUTE (UINT64_C(60) * G_USEC_PER_SEC)
#define ONE "00000001000000000000000000000000"
#define TWO "00000002000000000000000000000000"
#define THREE "00000003000000000000000000000000"

static AldFindingEvent *make_event(uint64_t began, uint64_t ended, json_t *finding)
{
        const AldHistoryEvent times = { .event = 7, .began_usec = began, .ended_usec = ended };
        AldFindingEvent *event = ald_finding_event_new(&times, finding);

        json_decref(finding);
        return event;
}

static json_t *make_finding(void)
{
        return json_pack("{s:s, s:s, s:[s,s], s:[s], s:s, s:i}", "Id", "odd", "Severity", "error", "Nodes",
                ONE, TWO, "Names", "atlas\033", "Text", "A.", "Newer", 1);
}

static void check_text(AldFindingEvent *event, uint64_t now, unsigned columns, const char *expected)
{
        const AldFindingListRow row = ald_event_row(event, now);
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *plain = NULL;

        ald_event_text_append(out, &row, NULL, columns);
        plain = ald_text_render(out->str, false, true);
        g_assert_cmpstr(plain, ==, expected);
        ald_finding_event_free(event);
}

/* Names that the finding lacks are ids; a clock that was set back makes no negative time. */
static void test_text(void)
{
        check_text(make_event(NOON, NOON + 22 * MINUTE, make_finding()), NOON, 0,
                "2026-11-26 12:00:00  2026-11-26 12:22:00  22 min       error odd: atlas\uFFFD, " TWO "\n"
                "    A.\n");
        check_text(make_event(NOON, ALD_ABSENT_UINT64, make_finding()), NOON + 90 * MINUTE, 0,
                "2026-11-26 12:00:00  lasts                1 h 30 min   error odd: atlas\uFFFD, " TWO "\n"
                "    A.\n");
        check_text(make_event(NOON, NOON - MINUTE, json_pack("{s:s}", "Id", "x")), NOON, 0,
                "2026-11-26 12:00:00  2026-11-26 11:59:00  0 ns         – x\n");
}

/* 2026-10-25 02:30 in Berlin comes twice. */
static void test_repeated_hour(void)
{
        const uint64_t first = UINT64_C(1792888200) * G_USEC_PER_SEC;

        (void) setenv("TZ", "Europe/Berlin", 1);
        tzset();
        check_text(make_event(first, first + 60 * MINUTE, json_pack("{s:s}", "Id", "x")), NOON, 0,
                "2026-10-25 02:30:00 +0200  2026-10-25 02:30:00 +0100  1 h          – x\n");
        check_text(make_event(first - 60 * MINUTE, first + 120 * MINUTE, json_pack("{s:s}", "Id", "x")), NOON,
                0, "2026-10-25 01:30:00  2026-10-25 03:30:00  3 h          – x\n");
        (void) setenv("TZ", "UTC", 1);
        tzset();
}

/* From the bus they may be anything. */
static void test_hostile(void)
{
        check_text(make_event(0, UINT64_C(1) << 53, json_pack("{s:s, s:i}", "Id", "\n\033", "Severity", 5)),
                NOON, 60,
                "1970-01-01 00:00:00  2255-06-05 23:47:34  104249 d 2…  –\n"
                "    \uFFFD\uFFFD\n");
        check_text(make_event(UINT64_MAX - 1, ALD_ABSENT_UINT64, json_object()), NOON, 0,
                "586524-01-19 08:01:49  lasts                0 ns         – –\n");
        g_assert_null(make_event(NOON, NOON, json_integer(5)));
}

/* What is received is passed on, with fields of a newer service. */
static void test_json(void)
{
        g_autoptr(AldFindingEvent) event = make_event(NOON, ALD_ABSENT_UINT64, make_finding());
        json_auto_t *json = ald_finding_event_to_json(event), *finding = make_finding();
        json_auto_t *expected = json_pack(
                "{s:i, s:I, s:O}", "Event", 7, "BeganUSec", (json_int_t) NOON, "Finding", finding);

        g_assert_true(json_equal(json, expected));
}

static void add_silence(
        GPtrArray *silences, const char *node, const char *peer, uint64_t until, const char *reason)
{
        AldSilenceRow row = ALD_SILENCE_ROW_INIT;

        row.node = node;
        row.peer = peer;
        row.until_usec = until;
        row.reason = reason;
        g_ptr_array_add(silences, ald_struct_dup(&ald_silence_row_struct, &row));
}

static void check_silence(const GPtrArray *silences, const char *const *nodes, const char *expected)
{
        AldFindingRow finding = ALD_FINDING_ROW_INIT;
        const AldSilenceRow *found;

        finding.id = "link-unsteady";
        finding.nodes = nodes;
        found = ald_silence_rows_find(silences, &finding);
        g_assert_cmpstr(found ? found->reason : NULL, ==, expected);
}

#define OF(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_silences(void)
{
        g_autoptr(GPtrArray) silences = g_ptr_array_new_with_free_func(g_free);

        check_silence(NULL, OF(ONE), NULL);
        add_silence(silences, ONE, NULL, NOON, "short");
        add_silence(silences, ONE, TWO, ALD_ABSENT_UINT64, "long");
        add_silence(silences, NULL, NULL, NOON, "nobody");
        check_silence(silences, OF(ONE), "short");
        check_silence(silences, OF(TWO, ONE), "long");
        check_silence(silences, OF(THREE, ONE), "short");
        check_silence(silences, OF(ONE, TWO, THREE), "short");
        check_silence(silences, OF(TWO), NULL);
        check_silence(silences, NULL, NULL);
}

int main(int argc, char **argv)
{
        (void) setenv("TZ", "UTC", 1);
        tzset();
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-events/text", test_text);
        g_test_add_func("/ctl-events/repeated-hour", test_repeated_hour);
        g_test_add_func("/ctl-events/hostile", test_hostile);
        g_test_add_func("/ctl-events/json", test_json);
        g_test_add_func("/ctl-events/silences", test_silences);
        return g_test_run();
}
