/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/json.h"
#include "state/results/storage-result.h"

#define HOUR (UINT64_C(3600) * 1000 * 1000)
#define DAY (24 * HOUR)
#define NOW (100 * DAY)

/* A record written as JSON, with ' for ". */
static AldRecord *make(const char *rows)
{
        g_autofree char *text = g_strdup_printf("{'FileSystems': [%s]}", rows);
        g_autofree char *json_text = g_strdelimit(g_steal_pointer(&text), "'", '"');
        json_t *json = NULL;
        AldRecord *record = NULL;

        g_assert_cmpint(ald_json_load(json_text, strlen(json_text), 4096, &json, NULL), ==, 0);
        g_assert_cmpint(ald_record_from_json(ALD_KIND_STORAGE, json, &record, NULL), ==, 0);
        json_decref(json);
        return record;
}

/* Takes the reference of what there is. */
static AldRecord *merge(AldRecord *before, uint64_t now, const char *rows)
{
        g_autoptr(AldRecord) told = make(rows);
        AldRecord *merged = NULL;

        told->updated_usec = 77;
        g_assert_cmpint(ald_storage_result_merge(before, told, now, &merged), ==, 0);
        g_assert_cmpuint(merged->updated_usec, ==, 77);
        g_clear_pointer(&before, ald_record_unref);
        return merged;
}

static void check(const AldRecord *record, const char *rows)
{
        g_autoptr(AldRecord) expected = make(rows);

        if (ald_record_compare(record, expected) != 0) {
                json_t *json = ald_record_to_json(record);
                g_autofree char *found = json_dumps(json, 0);

                g_error("%s\nis not\n%s", found, rows);
        }
}

#define PLACE "'Id': '/srv', 'FileSystemType': 'ext4', 'Disks': ['sda'], 'Rotational': false, "
#define HELD "'ModelFiles': 2, 'ModelBytes': 300, "
#define FIGURE "'ReadBytesPerSecond': 1000, 'ReadInterval': 2.5, 'ReadBytes': 200, 'MeasuredUSec': 100"
#define ATTEMPT "'AttemptBytes': 240, 'AttemptedUSec': 100"

static void test_failures_keep_the_figure(void)
{
        g_autoptr(AldRecord) row = merge(NULL, 200, "{" PLACE HELD FIGURE ", " ATTEMPT "}");

        check(row, "{" PLACE HELD FIGURE ", " ATTEMPT ", 'UsedBytes': 240}");
        row = merge(row, 200,
                "{" PLACE HELD "'Failure': 'busy: x', 'FailedUSec': 150, 'AttemptBytes': 8, "
                "'AttemptedUSec': 150}");
        check(row, "{" PLACE HELD FIGURE ", 'Failure': 'busy: x', 'FailedUSec': 150, 'Failures': 1, "
                   "'AttemptBytes': 8, 'AttemptedUSec': 150, 'UsedBytes': 248}");
        /* A busy figure is not taken, what it read is. */
        row = merge(row, 300,
                "{" PLACE HELD "'ReadBytesPerSecond': 5, 'Flags': ['busy'], 'MeasuredUSec': 300, "
                "'AttemptBytes': 2, 'AttemptedUSec': 300}");
        check(row, "{" PLACE HELD FIGURE ", 'Failure': 'busy: x', 'FailedUSec': 150, 'Failures': 1, "
                   "'AttemptBytes': 2, 'AttemptedUSec': 300, 'UsedBytes': 250}");
        row = merge(row, 400,
                "{" PLACE HELD "'ReadBytesPerSecond': 6, 'MeasuredUSec': 400, "
                "'AttemptBytes': 3, 'AttemptedUSec': 400}");
        check(row, "{" PLACE HELD "'ReadBytesPerSecond': 6, 'MeasuredUSec': 400, "
                   "'AttemptBytes': 3, 'AttemptedUSec': 400, 'UsedBytes': 253}");
}

/* The service reports a row again and again, and after its restart without the attempts before. */
static void test_said_again(void)
{
        const char *rows = "{" PLACE HELD FIGURE ", " ATTEMPT "}";
        g_autoptr(AldRecord) once = merge(NULL, 200, rows), twice = NULL, restarted = NULL;

        twice = merge(ald_record_ref(once), 200, rows);
        g_assert_cmpint(ald_record_compare(once, twice), ==, 0);
        restarted = merge(
                ald_record_ref(once), 300, "{" PLACE HELD "'WaitingSinceUSec': 9, 'WaitingReason': 'w'}");
        check(restarted, "{" PLACE HELD FIGURE ", " ATTEMPT
                         ", 'UsedBytes': 240, 'WaitingSinceUSec': 9, 'WaitingReason': 'w'}");
        /* It waits no more, and one that was stopped says what it had read. */
        restarted = merge(
                g_steal_pointer(&restarted), 400, "{" PLACE HELD "'AttemptBytes': 20, 'AttemptedUSec': 400}");
        check(restarted,
                "{" PLACE HELD FIGURE ", 'AttemptBytes': 20, 'AttemptedUSec': 400, 'UsedBytes': 260}");
}

static void test_what_it_holds(void)
{
        g_autoptr(AldRecord) row = merge(NULL, 200, "{" PLACE HELD FIGURE ", " ATTEMPT "}");

        row = merge(row, 200,
                "{'Id': '/srv', 'FileSystemType': 'xfs', 'Disks': ['sdb'], 'WaitingSinceUSec': 1, "
                "'WaitingReason': 'sdb is suspended'}");
        check(row, "{'Id': '/srv', 'FileSystemType': 'xfs', 'Disks': ['sdb'], " HELD FIGURE ", " ATTEMPT
                   ", 'UsedBytes': 240, 'WaitingSinceUSec': 1, 'WaitingReason': 'sdb is suspended'}");
        row = merge(row, 200, "{" PLACE "'ModelFiles': 0, 'ModelBytes': 0}");
        check(row, "{" PLACE "'ModelFiles': 0, 'ModelBytes': 0, " FIGURE ", " ATTEMPT ", 'UsedBytes': 240}");
}

static uint64_t used(uint64_t bytes, uint64_t attempted, uint64_t now)
{
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;

        row.used_bytes = bytes;
        row.attempted_usec = attempted;
        return ald_storage_used(&row, now);
}

static void test_used(void)
{
        g_assert_cmpuint(used(240, NOW, NOW), ==, 240);
        g_assert_cmpuint(used(240, NOW - DAY + 1, NOW), ==, 240);
        g_assert_cmpuint(used(240, NOW - DAY, NOW), ==, 0);
        g_assert_cmpuint(used(240, 1, NOW), ==, 0);
        /* The clock was set back. */
        g_assert_cmpuint(used(240, NOW + HOUR, NOW), ==, 240);
        g_assert_cmpuint(used(ALD_ABSENT_UINT64, NOW, NOW), ==, 0);
        g_assert_cmpuint(used(240, ALD_ABSENT_UINT64, NOW), ==, 0);
}

/* Whoever reads a part whenever the limit allows it reads no more than the limit in any day. */
static void test_budget_over_days(void)
{
        const uint64_t limit = 256, part = 40;
        g_autoptr(GArray) attempts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;
        g_autoptr(AldRecord) record = NULL;
        guint first = 0;

        for (uint64_t now = NOW; now < NOW + 10 * DAY; now += HOUR / 4) {
                g_autofree char *text = NULL;

                if (ald_storage_used(&row, now) + part > limit)
                        continue;
                text = g_strdup_printf(
                        "{'Id': '/srv', 'AttemptBytes': %d, 'AttemptedUSec': %" G_GUINT64_FORMAT "}",
                        (int) part, now);
                record = merge(g_steal_pointer(&record), now, text);
                row = *(const AldStorageFileSystem *) ald_rows_find(
                        &ald_record_as(record, STORAGE, AldStorage)->file_systems, "/srv");
                g_array_append_val(attempts, now);
                while (g_array_index(attempts, uint64_t, first) + DAY <= now)
                        first++;
                g_assert_cmpuint((attempts->len - first) * part, <=, limit);
        }
        g_assert_cmpuint(attempts->len, >=, 8 * (limit / part));
}

static void test_gone(void)
{
        g_autofree char *rows = g_strdup_printf(
                "{'Id': '/old', 'MeasuredUSec': 1}, {'Id': '/never', 'ModelFiles': 1}, "
                "{'Id': '/new', 'FailedUSec': %" G_GUINT64_FORMAT "}",
                NOW);
        g_autoptr(AldRecord) row = merge(NULL, NOW, rows), kept = NULL;

        g_assert_cmpuint(ald_record_as(row, STORAGE, AldStorage)->file_systems.n, ==, 3);
        row = merge(row, NOW, "{'Id': '/other', 'ModelFiles': 1}");
        check(row, "{'Id': '/new', 'FailedUSec': 8640000000000, 'Failures': 1}, {'Id': '/other', "
                   "'ModelFiles': 1}");
        /* Nothing is removed as long as the record changes, since its service runs. */
        row->updated_usec = NOW;
        g_assert_null(ald_storage_result_prune(row, NOW + ALD_STORAGE_KEPT_USEC - 1));
        kept = ald_storage_result_prune(row, NOW + ALD_STORAGE_KEPT_USEC);
        check(kept, "");
        g_assert_null(ald_storage_result_prune(NULL, NOW));
        g_assert_null(ald_storage_result_prune(row, NOW - 1));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/storage-result/failures", test_failures_keep_the_figure);
        g_test_add_func("/storage-result/again", test_said_again);
        g_test_add_func("/storage-result/holds", test_what_it_holds);
        g_test_add_func("/storage-result/used", test_used);
        g_test_add_func("/storage-result/budget", test_budget_over_days);
        g_test_add_func("/storage-result/gone", test_gone);
        return g_test_run();
}
