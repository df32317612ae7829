/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables as the firmware of AMD's GPUs writes them, in the versions that are known. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <glib.h>

#include "record/field.h"
#include "record/throttle.h"
#include "services/telemetry/gpu/gpu-metrics.h"

typedef struct Table {
        uint8_t bytes[512];
        size_t size;
} Table;

/* A table in which the firmware knows nothing. */
static Table make(uint8_t format, uint8_t content, uint16_t size)
{
        Table table = { .size = size };

        memset(table.bytes, 0xff, sizeof table.bytes);
        memcpy(table.bytes, &size, sizeof size);
        table.bytes[2] = format;
        table.bytes[3] = content;
        return table;
}

static void put(Table *table, size_t offset, uint64_t value, size_t size)
{
        uint16_t value16 = (uint16_t) value;
        uint32_t value32 = (uint32_t) value;

        memcpy(table->bytes + offset,
                size == 2   ? (void *) &value16
                : size == 4 ? (void *) &value32
                            : (void *) &value,
                size);
}

static AldGpuMetrics parse(const Table *table)
{
        AldGpuMetrics metrics;

        g_assert_cmpint(ald_gpu_metrics_parse(table->bytes, table->size, &metrics), ==, 0);
        return metrics;
}

static void assert_nothing(const AldGpuMetrics *metrics)
{
        g_assert_cmpuint(metrics->energy_micro_joules, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(metrics->memory_clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(metrics->video_usage));
        g_assert_cmpint(metrics->throttled, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpuint(metrics->n_residencies, ==, 0);
}

static void test_card(void)
{
        Table table = make(1, 3, 120);
        AldGpuMetrics metrics = parse(&table);

        assert_nothing(&metrics);
        put(&table, 58, 1249, 2);
        put(&table, 20, 17, 2);
        put(&table, 112, 0, 8);
        metrics = parse(&table);
        g_assert_cmpuint(metrics.memory_clock_hz, ==, 1249000000);
        g_assert_cmpfloat(metrics.video_usage, ==, 17);
        g_assert_cmpint(metrics.throttled, ==, 0);
        put(&table, 112, 1 | UINT64_C(1) << 34, 8);
        metrics = parse(&table);
        g_assert_cmpint(metrics.throttled, ==, 1);
        g_assert_cmpuint(metrics.reasons, ==, ALD_THROTTLE_POWER | ALD_THROTTLE_THERMAL);
        put(&table, 20, 101, 2);
        g_assert_true(isnan(parse(&table).video_usage));
}

/* RDNA 3 claims almost always that its hottest spot is too hot. */
static void test_hotspot(void)
{
        Table table = make(1, 3, 120);

        put(&table, 112, UINT64_C(1) << 36, 8);
        put(&table, 6, 45, 2);
        g_assert_cmpint(parse(&table).throttled, ==, 0);
        put(&table, 6, 105, 2);
        g_assert_cmpint(parse(&table).throttled, ==, 1);
        g_assert_cmpuint(parse(&table).reasons, ==, ALD_THROTTLE_THERMAL);
}

/* A card of the MI200 series writes 0 for the video engines, which it does not measure. */
static void test_mi200(void)
{
        Table table = make(1, 3, 120);

        put(&table, 20, 0, 2);
        g_assert_cmpfloat(parse(&table).video_usage, ==, 0);
        put(&table, 88, 41, 2);
        g_assert_true(isnan(parse(&table).video_usage));
}

/* MI300: energy in units of 2^-16 J, and how long each reason held it down. */
static void test_mi300(void)
{
        Table table = make(1, 6, 400);
        AldGpuMetrics before, after;

        put(&table, 88, 65536 * UINT64_C(1000), 8);
        put(&table, 16, 3, 2);
        put(&table, 20, 30, 2);
        for (unsigned i = 0; i < 5; i++)
                put(&table, 108 + 4 * i, 100, 4);
        before = parse(&table);
        g_assert_cmpuint(before.energy_micro_joules, ==, 1000000000);
        g_assert_cmpfloat(before.video_usage, ==, 30);
        g_assert_cmpint(before.throttled, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpuint(before.n_residencies, ==, 5);
        g_assert_cmpuint(ald_gpu_metrics_reasons_between(&before, &before), ==, 0);
        put(&table, 112, 101, 4);
        put(&table, 124, 3, 4);
        after = parse(&table);
        g_assert_cmpuint(ald_gpu_metrics_reasons_between(&before, &after), ==, ALD_THROTTLE_POWER);
        put(&table, 124, 300, 4);
        after = parse(&table);
        g_assert_cmpuint(ald_gpu_metrics_reasons_between(&before, &after), ==,
                ALD_THROTTLE_POWER | ALD_THROTTLE_THERMAL);

        table = make(1, 8, 400);
        put(&table, 24, 65536, 8);
        g_assert_cmpuint(parse(&table).energy_micro_joules, ==, 1000000);
        put(&table, 24, UINT64_MAX - 1, 8);
        g_assert_cmpuint(parse(&table).energy_micro_joules, ==, ALD_ABSENT_UINT64);
}

static void test_apu(void)
{
        Table table = make(2, 3, 152);

        put(&table, 80, 1600, 2);
        put(&table, 120, UINT64_C(1) << 33, 8);
        g_assert_cmpuint(parse(&table).memory_clock_hz, ==, 1600000000);
        g_assert_cmpuint(parse(&table).reasons, ==, ALD_THROTTLE_THERMAL);
        /* An older one lacks the reasons; Strix has another table. */
        table = make(2, 1, 120);
        put(&table, 80, 1600, 2);
        g_assert_cmpint(parse(&table).throttled, ==, ALD_ABSENT_BOOLEAN);
        table = make(3, 0, 264);
        put(&table, 186, 1000, 2);
        g_assert_cmpuint(parse(&table).memory_clock_hz, ==, 1000000000);
}

static void test_bad(void)
{
        static const uint8_t versions[][2] = { { 0, 0 }, { 1, 0 }, { 1, 9 }, { 2, 0 }, { 4, 0 },
                { 255, 255 } };
        Table table = make(1, 3, 120);
        AldGpuMetrics metrics;

        for (size_t i = 0; i < G_N_ELEMENTS(versions); i++) {
                Table other = make(versions[i][0], versions[i][1], 120);

                g_assert_cmpint(ald_gpu_metrics_parse(other.bytes, other.size, &metrics), ==, -EOPNOTSUPP);
                assert_nothing(&metrics);
        }
        for (size_t length = 0; length < 120; length++) {
                g_assert_cmpint(ald_gpu_metrics_parse(table.bytes, length, &metrics), ==, -EBADMSG);
                assert_nothing(&metrics);
        }
        /* It says itself that it is shorter. */
        table = make(1, 3, 100);
        g_assert_cmpint(ald_gpu_metrics_parse(table.bytes, sizeof table.bytes, &metrics), ==, -EBADMSG);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/gpu-metrics/card", test_card);
        g_test_add_func("/gpu-metrics/hotspot", test_hotspot);
        g_test_add_func("/gpu-metrics/mi200", test_mi200);
        g_test_add_func("/gpu-metrics/mi300", test_mi300);
        g_test_add_func("/gpu-metrics/apu", test_apu);
        g_test_add_func("/gpu-metrics/bad", test_bad);
        return g_test_run();
}
