/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/storage/read.h"

#define MIB (UINT64_C(1) << 20)
#define MSEC UINT64_C(1000000)

/* Reads 1 MiB in each step, of so many ms: first those of the start, then the others in turn. */
static void feed(AldStorageWindows *windows, unsigned n, unsigned start_msec, unsigned even, unsigned odd)
{
        uint64_t now = 1000 * MSEC;

        for (unsigned i = 1; i <= n; i++) {
                now += MSEC * (i <= n / ALD_STORAGE_START_PART ? start_msec : i / 8 % 2 == 0 ? even : odd);
                (void) ald_storage_windows_add(windows, i * MIB, now);
        }
}

static void test_steady(void)
{
        g_autoptr(AldStorageWindows) windows = ald_storage_windows_new(128 * MIB);
        AldStorageMeasure measure;

        feed(windows, 128, 50, 2, 2);
        g_assert_true(ald_storage_windows_figures(windows, &measure));
        g_assert_cmpuint(measure.bytes, ==, 112 * MIB);
        g_assert_cmpfloat_with_epsilon(measure.rate, (double) MIB / 0.002, 1);
        g_assert_cmpfloat_with_epsilon(measure.median, (double) MIB / 0.002, 1);
        g_assert_cmpfloat_with_epsilon(measure.interval, 0, 1e-9);
        g_assert_cmpfloat_with_epsilon(measure.spread, 0, 1e-9);
}

/* The mean is of the time that it took, so slow windows weigh more than fast ones. */
static void test_uneven(void)
{
        g_autoptr(AldStorageWindows) windows = ald_storage_windows_new(128 * MIB);
        AldStorageMeasure measure;

        feed(windows, 128, 1, 1, 3);
        g_assert_true(ald_storage_windows_figures(windows, &measure));
        g_assert_cmpfloat_with_epsilon(measure.rate, (double) MIB / 0.002, (double) MIB);
        g_assert_cmpfloat(measure.spread, >, 0.3);
        g_assert_cmpfloat(measure.interval, >, 0.1);
        g_assert_cmpfloat(measure.interval, <, measure.spread);
}

static void test_few(void)
{
        g_autoptr(AldStorageWindows) windows = ald_storage_windows_new(64 * MIB);
        g_autoptr(AldStorageWindows) none = ald_storage_windows_new(64 * MIB);
        AldStorageMeasure measure;

        feed(windows, 64, 2, 2, 2);
        g_assert_true(ald_storage_windows_figures(windows, &measure));
        g_assert_cmpuint(measure.bytes, ==, 56 * MIB);
        g_assert_cmpfloat_with_epsilon(measure.rate, (double) MIB / 0.002, 1);
        g_assert_true(isnan(measure.median) && isnan(measure.interval) && isnan(measure.spread));
        g_assert_false(ald_storage_windows_figures(none, &measure));
        g_assert_false(ald_storage_windows_add(none, 7 * MIB, MSEC));
        g_assert_false(ald_storage_windows_figures(none, &measure));
        /* The start alone counts for nothing. */
        g_assert_false(ald_storage_windows_add(none, 8 * MIB, 2 * MSEC));
        g_assert_false(ald_storage_windows_figures(none, &measure));
}

/* Two reads that end at the same time are one step. */
static void test_same_time(void)
{
        g_autoptr(AldStorageWindows) windows = ald_storage_windows_new(64 * MIB);
        AldStorageMeasure measure;

        g_assert_false(ald_storage_windows_add(windows, 8 * MIB, MSEC));
        g_assert_false(ald_storage_windows_add(windows, 16 * MIB, MSEC));
        g_assert_false(ald_storage_windows_figures(windows, &measure));
        g_assert_true(ald_storage_windows_add(windows, 24 * MIB, 5 * MSEC));
        g_assert_true(ald_storage_windows_figures(windows, &measure));
        g_assert_cmpfloat_with_epsilon(measure.rate, 16.0 * (double) MIB / 0.004, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/storage-windows/steady", test_steady);
        g_test_add_func("/storage-windows/uneven", test_uneven);
        g_test_add_func("/storage-windows/few", test_few);
        g_test_add_func("/storage-windows/same-time", test_same_time);
        return g_test_run();
}
