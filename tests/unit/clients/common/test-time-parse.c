/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>

#include "clients/common/time-parse.h"

#define SECOND UINT64_C(1000000)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)

/* 2026-11-26 12:34:56.5 UTC, which is 13:34:56.5 in the zone of main(). */
#define NOW (UINT64_C(1795696496) * SECOND + SECOND / 2)
#define MIDNIGHT (UINT64_C(1795647600) * SECOND)

static const struct {
        const char *text;
        uint64_t usec;
} times[] = {
        { "now", NOW },
        { " now ", NOW },
        { "today", MIDNIGHT },
        { "yesterday", MIDNIGHT - DAY },
        { "tomorrow", MIDNIGHT + DAY },
        { "-1h", NOW - HOUR },
        { "+1h", NOW + HOUR },
        { "1h ago", NOW - HOUR },
        { "1h left", NOW + HOUR },
        { "2 days ago", NOW - 2 * DAY },
        { "1h 30min ago", NOW - HOUR * 3 / 2 },
        { "-90s", NOW - 90 * SECOND },
        { "2026-11-26", MIDNIGHT },
        { "2026-11-26 12:00", MIDNIGHT + 12 * HOUR },
        { "2026-11-26T12:00:30", MIDNIGHT + 12 * HOUR + 30 * SECOND },
        { "2026-11-26 12:00:30.25", MIDNIGHT + 12 * HOUR + 30 * SECOND + SECOND / 4 },
        { "2026-11-26T11:00:00Z", MIDNIGHT + 12 * HOUR },
        { "2026-11-26 11:00 UTC", MIDNIGHT + 12 * HOUR },
        { "2026-11-26 UTC", MIDNIGHT + HOUR },
        { "2026-11-26T06:00:00-05:00", MIDNIGHT + 12 * HOUR },
        { "2026-11-26 16:30 +0530", MIDNIGHT + 12 * HOUR },
        { "08:15", MIDNIGHT + 8 * HOUR + 15 * 60 * SECOND },
        { "08:15:01", MIDNIGHT + 8 * HOUR + 15 * 60 * SECOND + SECOND },
        { "2026-07-01", UINT64_C(1782856800) * SECOND }, /* summer time */
        { "1970-01-01 UTC", 0 },
        { "@1795696496.5", NOW },
        { "@0", 0 },
};

static void test_times(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
                uint64_t usec = 1;

                g_test_message("%s", times[i].text);
                g_assert_cmpint(ald_time_parse(times[i].text, NOW, ALD_REPEATED_TIME_EARLIER, &usec), ==, 0);
                g_assert_cmpuint(usec, ==, times[i].usec);
        }
}

/* 2026-10-25 01:00 UTC, when clocks in Berlin go back from 3:00 to 2:00. */
#define SET_BACK (UINT64_C(1792890000) * SECOND)

static const struct {
        const char *text;
        uint64_t earlier, later;
} repeated_times[] = {
        { "2026-10-25 01:59:59", SET_BACK - HOUR - SECOND, SET_BACK - HOUR - SECOND },
        { "2026-10-25 02:00", SET_BACK - HOUR, SET_BACK },
        { "2026-10-25 02:59:59.5", SET_BACK - SECOND / 2, SET_BACK + HOUR - SECOND / 2 },
        { "2026-10-25 03:00", SET_BACK + HOUR, SET_BACK + HOUR },
        { "02:30", SET_BACK - HOUR / 2, SET_BACK + HOUR / 2 },
        { "2026-10-25 02:30 +0200", SET_BACK - HOUR / 2, SET_BACK - HOUR / 2 },
        { "2026-10-25 02:30 +01:00", SET_BACK + HOUR / 2, SET_BACK + HOUR / 2 },
        { "2026-10-25", SET_BACK - 3 * HOUR, SET_BACK - 3 * HOUR },
        { "2026-10-26", SET_BACK + 22 * HOUR, SET_BACK + 22 * HOUR },
};

static void test_repeated_times(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(repeated_times); i++) {
                const char *text = repeated_times[i].text;
                uint64_t usec = 1, now = SET_BACK + 9 * HOUR;

                g_test_message("%s", text);
                g_assert_cmpint(ald_time_parse(text, now, ALD_REPEATED_TIME_EARLIER, &usec), ==, 0);
                g_assert_cmpuint(usec, ==, repeated_times[i].earlier);
                g_assert_cmpint(ald_time_parse(text, now, ALD_REPEATED_TIME_LATER, &usec), ==, 0);
                g_assert_cmpuint(usec, ==, repeated_times[i].later);
        }
        g_assert_false(ald_time_is_repeated(SET_BACK - HOUR - SECOND));
        g_assert_true(ald_time_is_repeated(SET_BACK - HOUR));
        g_assert_true(ald_time_is_repeated(SET_BACK + HOUR - SECOND));
        g_assert_false(ald_time_is_repeated(SET_BACK + HOUR));
        g_assert_false(ald_time_is_repeated(NOW));
        g_assert_false(ald_time_is_repeated(0));
        g_assert_false(ald_time_is_repeated(UINT64_C(1) << 53));
}

static void test_no_times(void)
{
        static const char *const texts[] = { "", " ", "h", "1h", "noon", "-", "+", "--1h", "-1h ago",
                "-1 fortnight", "ago", " ago", "2026", "2026-11", "2026-13-01", "2026-02-30", "0000-01-01",
                "2026-11-26 24:00", "2026-11-26 12", "2026-11-26 12:60", "2026-11-26 12:00:60",
                "2026-11-26 12:00:5", "2026-11-26 12:00:301", "2026-11-26T", "2026-11-26 12:00 CET",
                "2026-11-26 12UTC", "2026-11-26 12:UTC", "2026-11-26 12:00:UTC", "2026-11-26 12:00 +1",
                "2026-11-26 12:00 +24:00", "2026-11-26 12:00Zulu", "26-11-26", "8:15", "@", "@-1", "@1e3",
                "now now" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                uint64_t usec = 1;

                g_test_message("\"%s\"", texts[i]);
                g_assert_cmpint(ald_time_parse(texts[i], NOW, ALD_REPEATED_TIME_EARLIER, &usec), ==, -EINVAL);
                g_assert_cmpuint(usec, ==, 1);
        }
}

static void test_out_of_range(void)
{
        static const char *const texts[] = { "1900-01-01", "1969-12-31", "9999-12-31", "2300-01-01 12:00 UTC",
                "@99999999999999999999", "-60 years", "60 years ago", "+9999 years", "300 years left" };
        uint64_t usec = 1;

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_test_message("\"%s\"", texts[i]);
                g_assert_cmpint(ald_time_parse(texts[i], NOW, ALD_REPEATED_TIME_EARLIER, &usec), ==, -ERANGE);
        }
        g_assert_cmpint(ald_duration_parse("400 years", &usec), ==, -ERANGE);
        g_assert_cmpuint(usec, ==, 1);
}

static const struct {
        const char *text;
        uint64_t usec;
} durations[] = {
        { "90s", 90 * SECOND },
        { "0", 0 },
        { "2h", 2 * HOUR },
        { "1h30min", HOUR * 3 / 2 },
        { " 1h  30 min ", HOUR * 3 / 2 },
        { "1.5 days", DAY * 3 / 2 },
        { ".5h", HOUR / 2 },
        { "1w 1d 1m 1sec", 8 * DAY + 61 * SECOND },
        { "250ms", SECOND / 4 },
        { "7 µs", 7 },
        { "1M", UINT64_C(2630016) * SECOND },
        { "1y", UINT64_C(31557600) * SECOND },
};

static void test_durations(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(durations); i++) {
                uint64_t usec = 1;

                g_test_message("%s", durations[i].text);
                g_assert_cmpint(ald_duration_parse(durations[i].text, &usec), ==, 0);
                g_assert_cmpuint(usec, ==, durations[i].usec);
        }
}

static void test_no_durations(void)
{
        static const char *const texts[] = { "", " ", "h", "-1h", "+1h", "1 fortnight", "1H", "1 2", "1.2.3h",
                ".", "0x10s", "1e3s", "inf", "nan", "2h,", "1h ago" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                uint64_t usec = 1;

                g_test_message("\"%s\"", texts[i]);
                g_assert_cmpint(ald_duration_parse(texts[i], &usec), ==, -EINVAL);
                g_assert_cmpuint(usec, ==, 1);
        }
}

/* systemd takes them for seconds; people do not always. */
static void test_no_units(void)
{
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "2", "has no unit: write 2h or 2s, for example" },
                { " 1.5 ", "has no unit: write 1.5h or 1.5s, for example" },
                { "1h 30", "ends with a number that has no unit, such as 2h or 2s" },
        };
        static const char *const relative[] = { "-5", "+5", "5 ago", "1h 30 left" };
        uint64_t usec = 1;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *problem = ald_duration_problem(cases[i].text, -ENOTUNIQ);

                g_assert_cmpint(ald_duration_parse(cases[i].text, &usec), ==, -ENOTUNIQ);
                g_assert_cmpstr(problem, ==, cases[i].problem);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(relative); i++)
                g_assert_cmpint(
                        ald_time_parse(relative[i], NOW, ALD_REPEATED_TIME_EARLIER, &usec), ==, -ENOTUNIQ);
        g_assert_cmpuint(usec, ==, 1);
}

/* What is typed may be anything. */
static void test_random(void)
{
        static const char letters[] = "0123456789-:+ @.TZUChmdsago\xc2\xb5";

        for (int n = 0; n < 50000; n++) {
                char text[20];
                size_t length = (size_t) g_test_rand_int_range(0, sizeof(text));
                uint64_t usec;

                for (size_t i = 0; i < length; i++)
                        text[i] = letters[g_test_rand_int_range(0, sizeof(letters) - 1)];
                text[length] = '\0';
                if (ald_time_parse(text, NOW, ALD_REPEATED_TIME_LATER, &usec) >= 0 ||
                        ald_duration_parse(text, &usec) >= 0)
                        g_assert_cmpuint(usec, <=, UINT64_C(1) << 53);
        }
}

int main(int argc, char **argv)
{
        (void) g_setenv("TZ", "Europe/Berlin", true);
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/time-parse/times", test_times);
        g_test_add_func("/time-parse/repeated-times", test_repeated_times);
        g_test_add_func("/time-parse/no-times", test_no_times);
        g_test_add_func("/time-parse/out-of-range", test_out_of_range);
        g_test_add_func("/time-parse/no-units", test_no_units);
        g_test_add_func("/time-parse/durations", test_durations);
        g_test_add_func("/time-parse/no-durations", test_no_durations);
        g_test_add_func("/time-parse/random", test_random);
        return g_test_run();
}
