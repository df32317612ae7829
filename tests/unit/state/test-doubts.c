/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <time.h>

/* Which figures of devices are believed. */
#include <glib.h>

#include "state/compute/doubts.h"
#include "state/compute/totals.h"
#include "tests/unit/state-maker.h"

#define NAMED(name, more)                                                                     \
        "{'Devices': [{'Id': 'gpu', 'Class': 'gpu', 'Name': '" name "', 'Driver': 'nvidia', " \
        "'DriverVersion': '570', 'OpenClPlatform': 'x'" more "}]}"
#define A100 NAMED("NVIDIA A100", ", 'MemoryTotalBytes': 42949672960")
#define A100_LESS NAMED("NVIDIA A100", ", 'MemoryTotalBytes': 42940000000")
#define A100_LARGE NAMED("NVIDIA A100", ", 'MemoryTotalBytes': 85899345920")
#define VIRTUAL NAMED("NVIDIA A100-40C", ", 'MemoryTotalBytes': 42949672960")
#define UNIFIED NAMED("NVIDIA GB10", ", 'Unified': true, 'MemoryTotalBytes': 42949672960")
#define PROCESSOR "{'Devices': [{'Id': 'gpu', 'Class': 'cpu', 'OpenClPlatform': 'x'}]}"

#define ROW(fields) "{'Devices': [{'Id': 'gpu', " fields "}]}"
#define PRODUCT(tflops, more)                                                                          \
        ROW("'GemmTflops': " tflops ", 'TflopsFp16': " tflops ", 'Precision': 'fp16', 'Accumulator': " \
            "'fp32'" more)
#define PEAK ", 'PeakTflops': 312, 'PeakPrecision': 'fp16'"
#define READS(bytes, more) ROW("'MemoryBandwidthBytesPerSecond': " bytes more)
#define THEORETICAL ", 'MemoryBandwidthTheoreticalBytesPerSecond': 1555000000000"

#define BELIEVED ((const char *) NULL)
#define ABOVE_PEAK "above-peak"
#define ABOVE_THEORETICAL "above-theoretical"
#define ABOVE_EQUALS "above-equal-devices"

typedef struct Found {
        AldStore *store;
        unsigned calls;
} Found;

static void keep(AldNode *node, AldRecord *record, void *userdata)
{
        Found *found = userdata;

        found->calls++;
        if (record || ald_node_record(node, ALD_KIND_DOUBTS))
                ald_store_put_about(found->store, &node->id, ALD_KIND_DOUBTS, record, 1, 1);
}

/* Keeps the records as the state service does. */
static void judge(AldStore *store)
{
        Found found = { .store = store };

        ald_doubts_judge(store, keep, &found);
        g_assert_cmpuint(found.calls, ==, ald_store_n_nodes(store));
}

static const AldDoubts *doubts_of(AldStore *store, unsigned number)
{
        g_autofree char *text = state_id(number);
        AldId id;

        g_assert_cmpint(ald_id_parse(text, &id), ==, 0);
        return ald_node_as(ald_store_find_node(store, &id), DOUBTS, AldDoubts);
}

/* The only doubt about a node, or NULL. */
static const AldDoubt *doubt_of(AldStore *store, unsigned number)
{
        const AldDoubts *doubts = doubts_of(store, number);

        if (!doubts)
                return NULL;
        g_assert_cmpuint(doubts->figures.n, ==, 1);
        return ald_rows_at(&doubts->figures, 0);
}

static void put(AldStore *store, unsigned node, const char *backends, const char *compute)
{
        state_put(store, node, ALD_KIND_BACKENDS, backends);
        state_put(store, node, ALD_KIND_COMPUTE, compute);
        if (node > 1)
                state_put_online(store, node);
}

static void test_own_limits(void)
{
        static const struct {
                const char *backends, *compute, *reason;
        } cases[] = {
                { A100, PRODUCT("2800", PEAK), ABOVE_PEAK },
                { A100, PRODUCT("344", PEAK), ABOVE_PEAK },
                { A100, PRODUCT("343", PEAK), BELIEVED },
                /* A peak that is unknown decides nothing. */
                { A100, PRODUCT("2800", ""), BELIEVED },
                { A100, PRODUCT("2800", ", 'PeakTflops': 0, 'PeakPrecision': 'fp16'"), BELIEVED },
                { A100, PRODUCT("2800", ", 'PeakTflops': 312"), BELIEVED },
                /* That of another precision is another figure; matrix units have more of the lower ones. */
                { A100, PRODUCT("300", ", 'PeakTflops': 19.5, 'PeakPrecision': 'fp32'"), BELIEVED },
                { A100,
                        PRODUCT("300",
                                ", 'PeakTflops': 78, 'PeakPrecision': 'fp16', 'PeakAccumulator': 'fp16'"),
                        BELIEVED },
                { A100, PRODUCT("500", PEAK ", 'PeakAccumulator': 'fp32'"), ABOVE_PEAK },
                /* What totals and plans take is that of fp16, whatever the other fields say. */
                { A100, ROW("'GemmTflops': 250, 'TflopsFp16': 2800, 'Precision': 'bf16'" PEAK), ABOVE_PEAK },
                { A100, ROW("'TflopsFp16': 2800" PEAK), ABOVE_PEAK },
                /* The peak may be that of the slower instructions of the same units. */
                { A100, PRODUCT("620", PEAK ", 'Method': 'nvidia-wgmma'"), BELIEVED },
                { A100, PRODUCT("620", PEAK ", 'Method': 'nvidia-wgmma', 'PeakMethod': 'peak-mma'"),
                        BELIEVED },
                { A100, PRODUCT("620", PEAK ", 'Method': 'nvidia-wgmma', 'PeakMethod': 'peak-wgmma'"),
                        ABOVE_PEAK },
                { A100, PRODUCT("700", PEAK ", 'Method': 'nvidia-wgmma', 'PeakMethod': 'peak-mma'"),
                        ABOVE_PEAK },
                /* It may be of a hot or busy device, or of a measurement before the last one. */
                { A100, PRODUCT("600", PEAK ", 'ThrottleReasons': ['thermal']"), BELIEVED },
                { A100, PRODUCT("600", PEAK ", 'ThrottleReasons': ['power']"), ABOVE_PEAK },
                { A100, PRODUCT("600", PEAK ", 'Flags': ['busy']"), BELIEVED },
                { A100, PRODUCT("600", PEAK ", 'Flags': ['unstable']"), BELIEVED },
                { A100, PRODUCT("600", PEAK ", 'Failure': 'peak: busy', 'FailedUSec': 9"), BELIEVED },
                { A100, PRODUCT("2800", PEAK ", 'Flags': ['busy'], 'ThrottleReasons': ['thermal']"),
                        ABOVE_PEAK },
                { "{'Devices': []}", PRODUCT("600", PEAK), BELIEVED },
                /* The clock of a processor follows its load. */
                { PROCESSOR, PRODUCT("600", PEAK), BELIEVED },
                { PROCESSOR, PRODUCT("2800", PEAK), ABOVE_PEAK },
                { A100, READS("1800000000000", THEORETICAL), ABOVE_THEORETICAL },
                { A100, READS("1700000000000", THEORETICAL), BELIEVED },
                { A100, READS("1800000000000", ""), BELIEVED },
                { A100, READS("0", THEORETICAL), BELIEVED },
                { A100, READS("1800000000000", ", 'MemoryBandwidthTheoreticalBytesPerSecond': 0"), BELIEVED },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();
                const AldDoubt *doubt;

                put(store, 1, cases[i].backends, cases[i].compute);
                judge(store);
                doubt = doubt_of(store, 1);
                g_test_message("%s", cases[i].compute);
                g_assert_cmpstr(doubt ? doubt->reason : NULL, ==, cases[i].reason);
                g_assert_true(!doubt || doubt->left_out == 1);
        }
}

static void test_row(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldDoubts *doubts;
        const AldDoubt *doubt;

        put(store, 1, A100,
                ROW("'TflopsFp16': 2800, 'MemoryBandwidthBytesPerSecond': 1800000000000" PEAK THEORETICAL));
        judge(store);
        doubts = doubts_of(store, 1);
        g_assert_cmpuint(doubts->figures.n, ==, 2);
        doubt = ald_doubts_find(doubts, "gpu", ALD_DOUBT_FIELD_GEMMTFLOPS);
        g_assert_cmpstr(doubt->id, ==, "gpu GemmTflops");
        g_assert_cmpfloat(doubt->tflops, ==, 2800);
        g_assert_cmpfloat(doubt->limit_tflops, ==, 312);
        g_assert_cmpuint(doubt->bytes_per_second, ==, ALD_ABSENT_UINT64);
        doubt = ald_doubts_find(doubts, "gpu", ALD_DOUBT_FIELD_MEMORYBANDWIDTHBYTESPERSECOND);
        g_assert_cmpuint(doubt->bytes_per_second, ==, 1800000000000);
        g_assert_cmpuint(doubt->limit_bytes_per_second, ==, 1555000000000);
        g_assert_true(isnan(doubt->tflops));
        g_assert_null(ald_doubts_find(doubts, "other", ALD_DOUBT_FIELD_GEMMTFLOPS));
        g_assert_null(ald_doubts_find(NULL, "gpu", ALD_DOUBT_FIELD_GEMMTFLOPS));
        /* Once the figures are right, nothing is left of it. */
        put(store, 1, A100, PRODUCT("250", PEAK));
        judge(store);
        g_assert_null(doubts_of(store, 1));
}

/* What the others report, and how the figure of node 9 is taken then. */
static void test_equal_devices(void)
{
        static const struct {
                const char *backends, *compute;
                unsigned n; /* of such nodes */
                const char *reason;
                bool left_out;
        } cases[] = {
                { A100, PRODUCT("250", ""), 3, ABOVE_EQUALS, true },
                { A100_LESS, PRODUCT("250", ""), 3, ABOVE_EQUALS, true },
                { A100, PRODUCT("250", ", 'ThrottleReasons': ['power']"), 3, ABOVE_EQUALS, true },
                { A100, PRODUCT("250", ""), 2, ABOVE_EQUALS, false },
                { A100, PRODUCT("250", ""), 1, ABOVE_EQUALS, false },
                { A100, PRODUCT("250", ""), 0, BELIEVED, false },
                { A100, PRODUCT("300", ""), 3, BELIEVED, false },
                /* Others under the same name. */
                { A100_LARGE, PRODUCT("250", ""), 3, BELIEVED, false },
                { NAMED("NVIDIA A30", ", 'MemoryTotalBytes': 42949672960"), PRODUCT("250", ""), 3, BELIEVED,
                        false },
                { A100, ROW("'GemmTflops': 19, 'Precision': 'fp32', 'Accumulator': 'fp32'"), 3, BELIEVED,
                        false },
                /* Their kernels, or their power, may be the reason. */
                { A100, PRODUCT("250", ", 'Method': 'tiled-fp16'"), 3, ABOVE_EQUALS, false },
                { A100, PRODUCT("250", ", 'PowerLimitMicroWatts': 150000000"), 3, ABOVE_EQUALS, false },
                /* They can do more than that, as they say themselves. */
                { A100, PRODUCT("250", ", 'ThrottleReasons': ['thermal']"), 3, BELIEVED, false },
                { A100, PRODUCT("250", ", 'ThrottleReasons': ['setting']"), 3, BELIEVED, false },
                { A100, PRODUCT("250", ", 'Flags': ['busy']"), 3, BELIEVED, false },
                { A100, PRODUCT("250", ", 'Flags': ['reduced']"), 3, BELIEVED, false },
                /* A lie is no measure. */
                { A100, PRODUCT("250", ", 'PeakTflops': 100, 'PeakPrecision': 'fp16'"), 3, BELIEVED, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();
                const AldDoubt *doubt;

                for (unsigned node = 2; node < 2 + cases[i].n; node++)
                        put(store, node, cases[i].backends, cases[i].compute);
                put(store, 9, A100, PRODUCT("600", ""));
                judge(store);
                doubt = doubt_of(store, 9);
                g_test_message("%s", cases[i].compute);
                g_assert_cmpstr(doubt ? doubt->reason : NULL, ==, cases[i].reason);
                g_assert_true((doubt && doubt->left_out == 1) == cases[i].left_out);
                if (doubt) {
                        g_assert_cmpuint(doubt->equal_nodes, ==, cases[i].n);
                        g_assert_cmpfloat(doubt->limit_tflops, ==, 250);
                }
                for (unsigned node = 2; node < 2 + cases[i].n && !strstr(cases[i].compute, "Peak"); node++)
                        g_assert_null(doubts_of(store, node));
        }
}

/* These differ by what no record describes. */
static void test_devices_that_are_not_compared(void)
{
        static const char *const backends[] = { VIRTUAL, UNIFIED, PROCESSOR,
                NAMED("GRID T4-16Q", ", 'MemoryTotalBytes': 17179869184"), NAMED("NVIDIA A100", "") };

        for (size_t i = 0; i < G_N_ELEMENTS(backends); i++) {
                g_autoptr(AldStore) store = state_make();

                for (unsigned node = 2; node < 8; node++)
                        put(store, node, backends[i], PRODUCT("50", ""));
                put(store, 9, backends[i], PRODUCT("600", ""));
                judge(store);
                g_assert_null(doubts_of(store, 9));
        }
}

/* A name that ends like a profile of a virtual GPU, but is none. */
static void test_names(void)
{
        static const char *const backends[] = { NAMED("NVIDIA A100-PCIE-40GB",
                                                        ", 'MemoryTotalBytes': 42949672960"),
                NAMED("NVIDIA A100-SXM4-", ", 'MemoryTotalBytes': 42949672960"),
                NAMED("Radeon Pro-C", ", 'MemoryTotalBytes': 42949672960") };

        for (size_t i = 0; i < G_N_ELEMENTS(backends); i++) {
                g_autoptr(AldStore) store = state_make();

                for (unsigned node = 2; node < 5; node++)
                        put(store, node, backends[i], PRODUCT("50", ""));
                put(store, 9, backends[i], PRODUCT("600", ""));
                judge(store);
                g_assert_nonnull(doubts_of(store, 9));
        }
}

/* One member cannot make another one a liar, however many devices it claims, and a node that is offline, or
 * has never been heard, is no witness. */
static void test_witnesses(void)
{
        g_autoptr(AldStore) store = state_make();
        GString *backends = g_string_new("{'Devices': ["), *compute = g_string_new("{'Devices': [");

        for (unsigned i = 0; i < 8; i++) {
                g_string_append_printf(backends,
                        "%s{'Id': '%u', 'Class': 'gpu', 'Name': 'NVIDIA A100', 'Driver': 'nvidia', "
                        "'DriverVersion': '570', 'OpenClPlatform': 'x', 'MemoryTotalBytes': 42949672960}",
                        i > 0 ? ", " : "", i);
                g_string_append_printf(compute, "%s{'Id': '%u', 'TflopsFp16': 1, 'Accumulator': 'fp32'}",
                        i > 0 ? ", " : "", i);
        }
        g_string_append(backends, "]}");
        g_string_append(compute, "]}");
        put(store, 2, backends->str, compute->str);
        put(store, 9, A100, PRODUCT("250", ""));
        judge(store);
        g_assert_cmpint(doubt_of(store, 9)->left_out, ==, 0);
        g_assert_cmpuint(doubt_of(store, 9)->equal_nodes, ==, 1);

        /* Its own devices are no measure for each other. */
        g_assert_null(doubts_of(store, 2));
        for (unsigned node = 3; node < 6; node++)
                put(store, node, A100, PRODUCT("250", ""));
        judge(store);
        g_assert_null(doubts_of(store, 9));

        put(store, 9, A100, PRODUCT("600", ""));
        judge(store);
        g_assert_cmpint(doubt_of(store, 9)->left_out, ==, 1);
        for (unsigned node = 4; node < 6; node++)
                state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        judge(store);
        g_assert_cmpint(doubt_of(store, 9)->left_out, ==, 0);
        g_string_free(backends, TRUE);
        g_string_free(compute, TRUE);
}

/* The best figure of the others is that of another node, even if the judged one has the two best. */
static void test_best_of_others(void)
{
        static const char *const order[][4] = { { "600", "100", "200", "250" },
                { "100", "600", "250", "200" }, { "250", "200", "100", "600" } };

        for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
                g_autoptr(AldStore) store = state_make();

                for (unsigned node = 0; node < 4; node++) {
                        g_autofree char *compute = g_strdup_printf(
                                ROW("'TflopsFp16': %s, 'Accumulator': 'fp32'"), order[i][node]);

                        put(store, 2 + node, A100, compute);
                }
                judge(store);
                for (unsigned node = 0; node < 4; node++) {
                        const AldDoubt *doubt = doubt_of(store, 2 + node);
                        bool is_liar = g_str_equal(order[i][node], "600");

                        g_assert_true((doubt != NULL) == is_liar);
                        if (is_liar)
                                g_assert_cmpfloat(doubt->limit_tflops, ==, 250);
                }
        }
}

static void note_change(AldEntry *entry, AldRecord *before, void *userdata)
{
        (void) ald_totals_note_change(entry, before);
}

/* Totals leave out what is not believed, and say so; what is only doubted counts. */
static void test_totals(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        ald_store_watch(store, note_change, NULL, NULL);
        put(store, 1, A100, PRODUCT("250", PEAK));
        put(store, 2, A100,
                PRODUCT("2800", PEAK ", 'MemoryBandwidthBytesPerSecond': 1500000000000" THEORETICAL));
        judge(store);
        ald_totals_compute(store, &totals);
        g_assert_cmpfloat(totals.figures.tflops_fp16, ==, 250);
        g_assert_cmpuint(totals.figures.tflops_fp16_left_out, ==, 1);
        g_assert_cmpuint(totals.tflops_fp16_reasons[ALD_LEFT_OUT_DISBELIEVED], ==, 1);
        g_assert_cmpuint(totals.figures.memory_bandwidth_bytes_per_second, ==, 1500000000000);
        g_assert_cmpuint(totals.memory_bandwidth_reasons[ALD_LEFT_OUT_DISBELIEVED], ==, 0);

        put(store, 2, A100, PRODUCT("600", ""));
        judge(store);
        g_assert_cmpint(doubt_of(store, 2)->left_out, ==, 0);
        ald_totals_compute(store, &totals);
        g_assert_cmpfloat(totals.figures.tflops_fp16, ==, 850);

        put(store, 2, A100, READS("1800000000000", THEORETICAL));
        judge(store);
        ald_totals_compute(store, &totals);
        g_assert_cmpuint(totals.figures.memory_bandwidth_bytes_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.memory_bandwidth_reasons[ALD_LEFT_OUT_DISBELIEVED], ==, 1);
}

static gint64 processor_usec(void)
{
        struct timespec now;

        g_assert_cmpint(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), ==, 0);
        return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

/* The work of a round grows with the number of devices only: ten times as many, all alike, take less than
 * fifty times as much of a processor, whatever else runs there. */
static void test_many(void)
{
        gint64 took[2];

        for (size_t round = 0; round < 2; round++) {
                g_autoptr(AldStore) store = state_make();
                unsigned n = round == 0 ? 300 : 3000;
                gint64 best = G_MAXINT64;

                for (unsigned node = 2; node < 2 + n; node++)
                        put(store, node, A100, PRODUCT("250", PEAK));
                for (unsigned i = 0; i < 5; i++) {
                        gint64 start = processor_usec();

                        judge(store);
                        best = MIN(best, processor_usec() - start);
                }
                took[round] = best;
        }
        g_test_message("300 nodes: %" G_GINT64_FORMAT " µs, 3000: %" G_GINT64_FORMAT " µs", took[0], took[1]);
        g_assert_cmpint(took[1], <, 50 * MAX(took[0], 100));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/doubts/own-limits", test_own_limits);
        g_test_add_func("/doubts/row", test_row);
        g_test_add_func("/doubts/equal-devices", test_equal_devices);
        g_test_add_func("/doubts/not-compared", test_devices_that_are_not_compared);
        g_test_add_func("/doubts/names", test_names);
        g_test_add_func("/doubts/witnesses", test_witnesses);
        g_test_add_func("/doubts/best-of-others", test_best_of_others);
        g_test_add_func("/doubts/totals", test_totals);
        g_test_add_func("/doubts/many", test_many);
        return g_test_run();
}
