/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "record/field.h"
#include "state/alerts/alert-damping.h"

#define SECOND (UINT64_C(1000) * 1000)
#define HOUR (3600 * SECOND)
#define START (1000 * HOUR)
#define FLAPS 1000u
#define ROUNDS 300u

typedef struct Counts {
        guint begins, ends;
        bool forgotten;
} Counts;

/* Takes each step at the time when it is due, up to `now`. */
static void run_until(AldAlertDamping *damping, uint64_t now, Counts *counts)
{
        while (!counts->forgotten && ald_alert_damping_due(damping) <= now) {
                uint64_t due = ald_alert_damping_due(damping);

                switch (ald_alert_damping_step(damping, due)) {
                case ALD_ALERT_BEGIN:
                        counts->begins++;
                        break;
                case ALD_ALERT_END:
                        counts->ends++;
                        break;
                case ALD_ALERT_FORGET:
                        counts->forgotten = true;
                        break;
                case ALD_ALERT_NONE:
                        break;
                }
        }
}

/* The finding exists for `present`, and is gone for `gap`, again and again. */
static Counts flap(uint64_t present, uint64_t gap, guint n)
{
        AldAlertDamping damping = ald_alert_damping_new(START);
        uint64_t now = START;
        Counts counts = {};

        for (guint i = 0; i < n; i++) {
                now += present;
                run_until(&damping, now, &counts);
                ald_alert_damping_set(&damping, false, now);
                now += gap;
                run_until(&damping, now, &counts);
                g_assert_false(counts.forgotten && i < n - 1 && gap < ALD_ALERT_END_USEC);
                counts.forgotten = false;
                ald_alert_damping_set(&damping, true, now);
        }
        return counts;
}

static void test_begins_and_ends_after_a_delay(void)
{
        AldAlertDamping damping = ald_alert_damping_new(START);
        uint64_t gone = START + HOUR / 2;

        g_assert_cmpint(
                ald_alert_damping_step(&damping, START + ALD_ALERT_BEGIN_USEC - 1), ==, ALD_ALERT_NONE);
        g_assert_cmpint(ald_alert_damping_step(&damping, START + ALD_ALERT_BEGIN_USEC), ==, ALD_ALERT_BEGIN);
        g_assert_cmpuint(damping.first_usec, ==, START);
        g_assert_cmpuint(ald_alert_damping_due(&damping), ==, ALD_ABSENT_UINT64);
        ald_alert_damping_set(&damping, false, gone);
        g_assert_cmpint(ald_alert_damping_step(&damping, gone + ALD_ALERT_END_USEC - 1), ==, ALD_ALERT_NONE);
        g_assert_cmpint(ald_alert_damping_step(&damping, gone + ALD_ALERT_END_USEC), ==, ALD_ALERT_END);
        g_assert_cmpuint(damping.changed_usec, ==, gone);
        g_assert_cmpint(ald_alert_damping_step(&damping, gone + ALD_ALERT_END_USEC), ==, ALD_ALERT_FORGET);
}

static void test_a_blip_is_no_alert(void)
{
        AldAlertDamping damping = ald_alert_damping_new(START);
        Counts counts = {};

        ald_alert_damping_set(&damping, false, START + SECOND);
        run_until(&damping, START + HOUR, &counts);
        g_assert_cmpuint(counts.begins, ==, 0);
        g_assert_true(counts.forgotten);
}

/* A link that comes and goes for days. */
static void test_a_thousand_flaps_are_few_notices(void)
{
        for (uint64_t gap = SECOND; gap <= ALD_ALERT_END_USEC * 3 / 2; gap += 7 * SECOND)
                for (uint64_t present = SECOND; present < HOUR / 2; present = present * 2 + SECOND) {
                        Counts counts = flap(present, gap, FLAPS);

                        g_assert_cmpuint(counts.begins, >=, 1);
                        g_assert_cmpuint(counts.begins + counts.ends, <=, 3);
                }
}

/* Two notices for each step of the delay that the gap exceeds. */
static void test_longer_gaps_are_bounded(void)
{
        for (uint64_t gap = ALD_ALERT_END_USEC; gap < ALD_ALERT_DELAY_MAX_USEC / 2; gap += 60 * SECOND) {
                Counts counts = flap(60 * SECOND, gap, FLAPS);
                double steps = ceil(log((double) gap / (double) ALD_ALERT_END_USEC) / log(1.5));

                g_assert_cmpuint(counts.begins + counts.ends, <=, 2 * (guint) steps + 3);
        }
}

/* What has rested for long enough is like new. */
static void test_it_decays_when_quiet(void)
{
        AldAlertDamping damping = ald_alert_damping_new(START);
        uint64_t now = START;
        Counts counts = {};

        for (guint i = 0; i < FLAPS; i++) {
                ald_alert_damping_set(&damping, i % 2 > 0, now += SECOND);
                run_until(&damping, now, &counts);
        }
        g_assert_cmpuint(damping.flaps, ==, ALD_ALERT_FLAPS_MAX);
        g_assert_true(damping.present);
        now += (ALD_ALERT_FLAPS_MAX - 2) * ALD_ALERT_QUIET_USEC;
        ald_alert_damping_set(&damping, false, now);
        g_assert_cmpuint(damping.flaps, ==, 2);
        run_until(&damping, now + ALD_ALERT_END_USEC * 9 / 4 - 1, &counts);
        g_assert_cmpuint(counts.ends, ==, 0);
        run_until(&damping, now + ALD_ALERT_END_USEC * 9 / 4, &counts);
        g_assert_cmpuint(counts.ends, ==, 1);
        run_until(&damping, now + 2 * ALD_ALERT_QUIET_USEC + SECOND, &counts);
        g_assert_true(counts.forgotten);
}

/* Begins and ends alternate, and no delay exceeds an hour, whatever happens. */
static void test_any_history(void)
{
        for (guint round = 0; round < ROUNDS; round++) {
                AldAlertDamping damping = ald_alert_damping_new(START);
                uint64_t now = START;
                Counts counts = {};

                for (guint i = 0; i < 100 && !counts.forgotten; i++) {
                        uint64_t due = ald_alert_damping_due(&damping);

                        now += (uint64_t) g_test_rand_int_range(1, 4000) * SECOND;
                        g_assert_true(due == ALD_ABSENT_UINT64 || damping.flaps > 0 ||
                                      due <= damping.changed_usec + HOUR);
                        run_until(&damping, now, &counts);
                        g_assert_cmpuint(counts.begins - counts.ends, ==, damping.begun);
                        ald_alert_damping_set(&damping, g_test_rand_int_range(0, 2), now);
                }
        }
}

static void test_a_clock_that_is_set_back(void)
{
        AldAlertDamping damping = ald_alert_damping_new(START);

        ald_alert_damping_shift(&damping, 500 * HOUR, false);
        g_assert_cmpuint(ald_alert_damping_due(&damping), ==, 500 * HOUR + ALD_ALERT_BEGIN_USEC);
        ald_alert_damping_shift(&damping, 5000 * HOUR, false);
        g_assert_cmpuint(ald_alert_damping_due(&damping), ==, ALD_ALERT_BEGIN_USEC);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/alert-damping/begins-and-ends-after-a-delay", test_begins_and_ends_after_a_delay);
        g_test_add_func("/alert-damping/a-blip-is-no-alert", test_a_blip_is_no_alert);
        g_test_add_func(
                "/alert-damping/a-thousand-flaps-are-few-notices", test_a_thousand_flaps_are_few_notices);
        g_test_add_func("/alert-damping/longer-gaps-are-bounded", test_longer_gaps_are_bounded);
        g_test_add_func("/alert-damping/it-decays-when-quiet", test_it_decays_when_quiet);
        g_test_add_func("/alert-damping/any-history", test_any_history);
        g_test_add_func("/alert-damping/a-clock-that-is-set-back", test_a_clock_that_is_set_back);
        return g_test_run();
}
