/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/compute/memory/buffer-size.h"
#include "probes/compute/memory/pattern.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static uint32_t sum_of(uint64_t first, uint64_t n)
{
        uint32_t sum = 0;

        for (uint64_t i = first; i < first + n; i++)
                sum += ald_pattern_word(i);
        return sum;
}

/* The sum is computed without going through all of it, and no part of it stands for another. */
static void test_sum(void)
{
        uint32_t one = sum_of(0, ALD_PATTERN_PERIOD);

        g_assert_cmpuint(ald_pattern_sum(0), ==, 0);
        g_assert_cmpuint(ald_pattern_sum(1), ==, one);
        g_assert_cmpuint(ald_pattern_sum(5), ==, sum_of(0, 5 * ALD_PATTERN_PERIOD));
        for (uint64_t periods = 2; periods <= 8 * GIB / ALD_PATTERN_BYTES; periods *= 2)
                g_assert_cmpuint(ald_pattern_sum(periods), !=, one * (uint32_t) periods);
}

/* As many bits are set as are not, and neighbours have nothing in common. */
static void test_random(void)
{
        const unsigned n = 1 << 16;
        unsigned set = 0, changed = 0;

        for (unsigned i = 0; i < n; i++) {
                set += (unsigned) __builtin_popcount(ald_pattern_word(i));
                changed += (unsigned) __builtin_popcount(ald_pattern_word(i) ^ ald_pattern_word(i + 1));
        }
        g_assert_cmpfloat_with_epsilon(set / (32.0 * n), 0.5, 0.01);
        g_assert_cmpfloat_with_epsilon(changed / (32.0 * n), 0.5, 0.01);
}

static void assert_sizes(const AldOpenclTarget *device, uint64_t available, bool copies, uint64_t start,
        uint64_t limit, bool wants)
{
        AldBufferSizes sizes = ald_buffer_sizes(device, available, copies);

        g_assert_cmpuint(sizes.start, ==, start);
        g_assert_cmpuint(sizes.limit, ==, limit);
        g_assert_cmpint(sizes.wants, ==, wants);
}

static void test_gpu(void)
{
        AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_GPU,
                .cache_bytes = 50 * MIB,
                .listed.memory_total_bytes = 80 * GIB,
                .allocation_max = 20 * GIB };

        assert_sizes(&device, 80 * GIB, false, 512 * MIB, 8 * GIB, false);
        /* A cache as large as those of large AMD chips. */
        device.cache_bytes = 256 * MIB;
        assert_sizes(&device, 80 * GIB, true, 2 * GIB, 8 * GIB, false);
        /* Both buffers take a quarter of what is free at most, or an eighth of all where that is not known.
         */
        assert_sizes(&device, 20 * GIB, true, 2 * GIB, 2 * GIB, true);
        assert_sizes(&device, 0, true, 2 * GIB, 4 * GIB, false);
        assert_sizes(&device, 200 * GIB, true, 2 * GIB, 8 * GIB, false);
        assert_sizes(&device, 4 * GIB, true, 512 * MIB, 512 * MIB, true);
        assert_sizes(&device, 1, true, 0, 0, true);
        device = (AldOpenclTarget){ .type = ALD_LISTED_DEVICE_TYPE_GPU };
        assert_sizes(&device, 0, false, 512 * MIB, 8 * GIB, false);
}

static void test_small(void)
{
        AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_CPU,
                .cache_bytes = 32 * MIB,
                .listed.memory_total_bytes = 8 * GIB,
                .allocation_max = 2 * GIB };

        assert_sizes(&device, 8 * GIB, false, 256 * MIB, GIB, false);
        assert_sizes(&device, 8 * GIB, true, 256 * MIB, GIB, false);
        assert_sizes(&device, 5 * GIB, true, 256 * MIB, 512 * MIB, false);
        assert_sizes(&device, 2 * GIB, true, 256 * MIB, 256 * MIB, true);
        device.allocation_max = 100 * MIB;
        assert_sizes(&device, 0, false, 64 * MIB, 64 * MIB, true);
        device.allocation_max = 10 * MIB;
        g_assert_cmpuint(ald_buffer_sizes(&device, 0, false).limit, ==, 0);
}

static void test_transfer(void)
{
        AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_GPU,
                .listed.memory_total_bytes = 80 * GIB,
                .allocation_max = 20 * GIB };

        g_assert_cmpuint(ald_transfer_size(&device, 80 * GIB, 80 * GIB), ==, ALD_TRANSFER_BYTES);
        g_assert_cmpuint(ald_transfer_size(&device, 0, 0), ==, ALD_TRANSFER_BYTES);
        /* At most an eighth of what is free on the device, so that both buffers may be there. */
        g_assert_cmpuint(ald_transfer_size(&device, GIB, 80 * GIB), ==, 128 * MIB);
        g_assert_cmpuint(ald_transfer_size(&device, 1, 80 * GIB), ==, 0);
        g_assert_cmpuint(ald_transfer_size(&device, 80 * GIB, 400 * MIB), ==, 64 * MIB);
        g_assert_cmpuint(ald_transfer_size(&device, 80 * GIB, 60 * MIB), ==, 0);
        device.allocation_max = 100 * MIB;
        g_assert_cmpuint(ald_transfer_size(&device, 80 * GIB, 80 * GIB), ==, 64 * MIB);
        device = (AldOpenclTarget){ .type = ALD_LISTED_DEVICE_TYPE_GPU };
        g_assert_cmpuint(ald_transfer_size(&device, 0, 0), ==, ALD_TRANSFER_BYTES);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-memory/sum", test_sum);
        g_test_add_func("/compute-memory/random", test_random);
        g_test_add_func("/compute-memory/gpu", test_gpu);
        g_test_add_func("/compute-memory/small", test_small);
        g_test_add_func("/compute-memory/transfer", test_transfer);
        return g_test_run();
}
