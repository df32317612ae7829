/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "state/compute/node-power.h"
#include "state/compute/totals.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define GPU "{'Id': '0000:01:00.0', 'Class': 'gpu', 'Unified': false, 'MemoryTotalBytes': 80}"
#define SECOND_GPU "{'Id': '0000:02:00.0', 'Class': 'gpu', 'Unified': false, 'MemoryTotalBytes': 20}"
#define UNIFIED "{'Id': 'soc', 'Class': 'gpu', 'Unified': true}"
#define NPU "{'Id': 'npu', 'Class': 'accelerator', 'Unified': false, 'MemoryTotalBytes': 1}"
#define CPU "{'Id': 'cpu', 'Class': 'cpu', 'Unified': false, 'MemoryTotalBytes': 64}"
#define UNTOLD "{'Id': 'x', 'MemoryTotalBytes': 7, 'Unified': false}"

#define CARVED_APU "{'Id': 'apu', 'Class': 'gpu', 'Unified': true, 'MemoryTotalBytes': 96}"

static gboolean forget_sums(AldNode *node, void *userdata)
{
        node->sums = (AldNodeSums){ 0 };
        return FALSE;
}

/* Of all records, regardless of what was computed before. */
static AldTotals compute(AldStore *store)
{
        AldTotals totals;

        ald_store_foreach_node(store, forget_sums, NULL);
        ald_totals_compute(store, &totals);
        return totals;
}

/* A record of a node that is online. */
static void put(AldStore *store, unsigned node, AldKind kind, const char *text)
{
        state_put(store, node, kind, text);
        if (node != 1)
                state_put_online(store, node);
}

static void check_bandwidth(AldStore *store, uint64_t bandwidth, const char *of)
{
        AldTotals totals = compute(store);

        g_assert_cmpuint(totals.figures.memory_bandwidth_bytes_per_second, ==, bandwidth);
        g_assert_cmpstr(totals.figures.memory_bandwidth_of, ==, of);
}

static void test_nothing_known(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals = compute(store);

        g_assert_true(isnan(totals.figures.tflops_fp16));
        g_assert_cmpuint(totals.figures.tflops_fp16_left_out, ==, 0);
        check_bandwidth(store, ALD_ABSENT_UINT64, "");
        g_assert_cmpuint(totals.figures.memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.figures.memory_available_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.figures.device_memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.figures.device_memory_available_bytes, ==, ALD_ABSENT_UINT64);
        /* Records that tell nothing add nothing. */
        put(store, 2, ALD_KIND_MEMORY, "{}");
        put(store, 2, ALD_KIND_BACKENDS, "{}");
        put(store, 2, ALD_KIND_COMPUTE, "{}");
        totals = compute(store);
        g_assert_true(isnan(totals.figures.tflops_fp16));
        g_assert_cmpuint(totals.figures.memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.figures.nodes_left_out, ==, 0);
}

static void test_host_memory(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        put(store, 1, ALD_KIND_MEMORY, "{'TotalBytes': 5}");
        put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 7, 'AvailableBytes': 3}");
        put(store, 3, ALD_KIND_MEMORY, "{'AvailableBytes': 100}");
        totals = compute(store);
        g_assert_cmpuint(totals.figures.memory_total_bytes, ==, 12);
        /* Free of what is not known: the sum would exceed the whole. */
        g_assert_cmpuint(totals.figures.memory_available_bytes, ==, 3);
}

/* Whatever is known of a node, it adds to the totals by its presence alone. */
static void test_who_counts(void)
{
        static const struct {
                const char *presence;
                bool counts;
        } cases[] = {
                { "{'State': 'online'}", true },
                { "{'State': 'stale'}", true },
                { "{'State': 'offline'}", false },
                { "{'State': 'duplicate'}", false },
                { "{'State': 'unknown'}", false },
                { "{}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();
                AldTotals totals;

                state_put(store, 1, ALD_KIND_MEMORY, "{'TotalBytes': 5, 'AvailableBytes': 1}");
                state_put(store, 1, ALD_KIND_PRESENCE, cases[i].presence); /* always counts */
                state_put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 7, 'AvailableBytes': 3}");
                state_put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " SECOND_GPU "]}");
                state_put(store, 2, ALD_KIND_SYSTEM,
                        "{'PowerMicroWatts': 7, 'Devices': [{'Id': '0000:01:00.0', 'MemoryUsedBytes': 1}]}");
                state_put(store, 2, ALD_KIND_COMPUTE,
                        "{'Devices': [{'Id': '0000:01:00.0', 'TflopsFp16': 2, "
                        "'MemoryBandwidthBytesPerSecond': 9}]}");
                state_put(store, 2, ALD_KIND_PRESENCE, cases[i].presence);
                totals = compute(store);
                g_assert_cmpuint(totals.figures.nodes_left_out, ==, cases[i].counts ? 0 : 1);
                g_assert_cmpuint(totals.figures.memory_total_bytes, ==, cases[i].counts ? 12 : 5);
                g_assert_cmpuint(totals.figures.memory_available_bytes, ==, cases[i].counts ? 4 : 1);
                g_assert_cmpuint(totals.figures.device_memory_total_bytes, ==,
                        cases[i].counts ? 100 : ALD_ABSENT_UINT64);
                g_assert_cmpuint(totals.figures.device_memory_available_bytes, ==,
                        cases[i].counts ? 79 : ALD_ABSENT_UINT64);
                g_assert_cmpuint(totals.figures.device_memory_unread, ==, cases[i].counts ? 1 : 0);
                g_assert_cmpuint(
                        totals.figures.power_micro_watts, ==, cases[i].counts ? 7 : ALD_ABSENT_UINT64);
                g_assert_cmpuint(totals.figures.nodes_power_unread, ==, 1);
                g_assert_cmpuint(totals.figures.nodes_power_of_parts, ==, cases[i].counts ? 1 : 0);
                g_assert_true(cases[i].counts ? totals.figures.tflops_fp16 == 2
                                              : isnan(totals.figures.tflops_fp16));
                g_assert_cmpuint(totals.figures.tflops_fp16_left_out, ==, cases[i].counts ? 1 : 0);
                check_bandwidth(store, cases[i].counts ? 9 : ALD_ABSENT_UINT64, cases[i].counts ? "gpu" : "");
        }
}

/* Nodes of which nothing but links or deletions is known are no nodes that were left out. */
static void test_who_is_left_out_has_records(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 1, 1, "{}");
        g_assert_cmpuint(compute(store).figures.nodes_left_out, ==, 0);
        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        g_assert_cmpuint(compute(store).figures.nodes_left_out, ==, 1);
}

/* What a node says that cannot be is in no sum. */
static void test_absurd_figures(void)
{
        g_autoptr(AldStore) store = state_make();

        put(store, 1, ALD_KIND_MEMORY, "{'TotalBytes': 64, 'AvailableBytes': 16}");
        put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        put(store, 1, ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'cpu', 'TflopsFp16': 2.0}]}");
        put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 2, 'AvailableBytes': 1000}");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        put(store, 2, ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'cpu', 'TflopsFp16': -1.0}]}");
        put(store, 3, ALD_KIND_MEMORY, "{'AvailableBytes': 1000}");
        g_assert_cmpuint(compute(store).figures.memory_total_bytes, ==, 66);
        g_assert_cmpuint(compute(store).figures.memory_available_bytes, ==, 16);
        g_assert_cmpfloat(compute(store).figures.tflops_fp16, ==, 2.0);
}

static void test_sums_end_at_the_limit(void)
{
        g_autoptr(AldStore) store = state_make();

        for (unsigned node = 1; node < 4000; node++)
                put(store, node, ALD_KIND_MEMORY, "{'TotalBytes': 9007199254740992}");
        g_assert_cmpuint(compute(store).figures.memory_total_bytes, ==, (uint64_t) ALD_INTEGER_MAX);
}

/* MemoryTotalBytes of a device is what it has for itself, be it a card or the carve-out of an APU. */
static void test_device_memory_is_dedicated_memory(void)
{
        g_autoptr(AldStore) store = state_make();

        put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" UNIFIED ", " CPU ", " UNTOLD "]}");
        g_assert_cmpuint(compute(store).figures.device_memory_total_bytes, ==, ALD_ABSENT_UINT64);
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " SECOND_GPU ", " NPU "]}");
        g_assert_cmpuint(compute(store).figures.device_memory_total_bytes, ==, 101);
        put(store, 3, ALD_KIND_BACKENDS, "{'Devices': [" CARVED_APU "]}");
        g_assert_cmpuint(compute(store).figures.device_memory_total_bytes, ==, 197);
        /* An instance has a part of what its parent has. */
        put(store, 3, ALD_KIND_BACKENDS,
                "{'Devices': [" CARVED_APU ", {'Id': 'apu/1-0', 'Class': 'gpu', 'Parent': 'apu',"
                " 'MemoryTotalBytes': 12}]}");
        g_assert_cmpuint(compute(store).figures.device_memory_total_bytes, ==, 197);
}

static void test_free_device_memory(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " SECOND_GPU ", " CARVED_APU ", " NPU "]}");
        totals = compute(store);
        g_assert_cmpuint(totals.figures.device_memory_available_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.figures.device_memory_unread, ==, 4);

        /* Asleep, full, and more in use than there is, which cannot be. */
        put(store, 1, ALD_KIND_SYSTEM,
                "{'Devices': [{'Id': '0000:01:00.0', 'MemoryUsedBytes': 30},"
                " {'Id': '0000:02:00.0', 'PowerState': 'asleep'}, {'Id': 'apu', 'MemoryUsedBytes': 96},"
                " {'Id': 'npu', 'MemoryUsedBytes': 2}]}");
        totals = compute(store);
        g_assert_cmpuint(totals.figures.device_memory_total_bytes, ==, 197);
        g_assert_cmpuint(totals.figures.device_memory_available_bytes, ==, 50);
        g_assert_cmpuint(totals.figures.device_memory_unread, ==, 2);
}

#define PARTS                                                                                   \
        "'PowerMicroWatts': 100, 'Devices': [{'Id': '0000:01:00.0', 'PowerMicroWatts': 30}, "   \
        "{'Id': '0000:02:00.0', 'PowerState': 'asleep'}, {'Id': 'soc', 'PowerMicroWatts': 9}, " \
        "{'Id': 'half', 'PowerMicroWatts': 15}, {'Id': 'cpu', 'PowerMicroWatts': 100}]"

/* The whole is never added to its parts, nor a part to what contains it. */
static void test_power_of_a_node(void)
{
        static const struct {
                const char *system;
                const char *of;
                uint64_t power;
        } cases[] = {
                { "{}", NULL, ALD_ABSENT_UINT64 },
                { "{" PARTS "}", "processors+gpus", 130 },
                { "{" PARTS ", 'MeterMicroWatts': 500}", "meter", 500 },
                { "{" PARTS ", 'MeterMicroWatts': 500, 'Batteries': [{'Id': 'BAT0', 'State': 'discharging', "
                  "'PowerMicroWatts': 60}]}",
                        "meter", 500 },
                { "{" PARTS ", 'Batteries': [{'Id': 'BAT0', 'State': 'discharging', 'PowerMicroWatts': 60}, "
                  "{'Id': 'BAT1', 'State': 'discharging', 'PowerMicroWatts': 5}, {'Id': 'BAT2', 'State': "
                  "'idle', "
                  "'PowerMicroWatts': 0}]}",
                        "battery", 65 },
                /* Something else supplies the machine, all of it or a part that is not known. */
                { "{" PARTS ", 'Batteries': [{'Id': 'BAT0', 'State': 'charging', 'PowerMicroWatts': 60}]}",
                        "processors+gpus", 130 },
                { "{" PARTS ", 'Batteries': [{'Id': 'BAT0', 'State': 'discharging', 'PowerMicroWatts': 60}, "
                  "{'Id': 'BAT1', 'State': 'charging', 'PowerMicroWatts': 5}]}",
                        "processors+gpus", 130 },
                { "{" PARTS ", 'Batteries': [{'Id': 'BAT0', 'State': 'discharging', 'PowerMicroWatts': 60}, "
                  "{'Id': 'BAT1', 'State': 'discharging'}]}",
                        "processors+gpus", 130 },
                { "{'PowerMicroWatts': 100, 'Devices': [{'Id': '0000:01:00.0', 'PowerState': 'asleep'}]}",
                        "processors", 100 },
                { "{'Devices': [{'Id': '0000:01:00.0', 'PowerMicroWatts': 30}, {'Id': 'soc', "
                  "'PowerMicroWatts': 9}, "
                  "{'Id': 'of-no-record', 'PowerMicroWatts': 7}]}",
                        "gpus", 39 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();
                const AldId id = id_make(2);
                const AldNode *node;
                uint64_t power;
                AldPowerOf of;

                put(store, 2, ALD_KIND_BACKENDS,
                        "{'Devices': [" GPU ", " SECOND_GPU ", " UNIFIED ", " CPU
                        ", {'Id': 'half', 'Class': 'gpu', 'Parent': '0000:01:00.0'}]}");
                put(store, 2, ALD_KIND_SYSTEM, cases[i].system);
                node = ald_store_find_node(store, &id);
                of = ald_node_power(ald_node_as(node, BACKENDS, AldBackends),
                        ald_node_as(node, SYSTEM, AldSystem), &power);
                g_assert_cmpstr(ald_power_of_to_string(of), ==, cases[i].of);
                g_assert_cmpuint(power, ==, cases[i].power);
        }
}

static void test_power_of_the_cluster(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals = compute(store);

        g_assert_cmpuint(totals.figures.power_micro_watts, ==, ALD_ABSENT_UINT64);
        put(store, 1, ALD_KIND_SYSTEM, "{'MeterMicroWatts': 1000}");
        put(store, 2, ALD_KIND_SYSTEM, "{" PARTS "}");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU "]}");
        put(store, 3, ALD_KIND_SYSTEM, "{'CpuUsage': 5}");
        put(store, 4, ALD_KIND_MEMORY, "{'TotalBytes': 5}");
        put(store, 5, ALD_KIND_SYSTEM, "{'MeterMicroWatts': 5000}");
        state_put(store, 5, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        totals = compute(store);
        g_assert_cmpuint(totals.figures.power_micro_watts, ==, 1130);
        g_assert_cmpuint(totals.figures.nodes_power_unread, ==, 2);
        g_assert_cmpuint(totals.figures.nodes_power_of_parts, ==, 1);
}

static void test_fp32_is_never_added_to_fp16(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals = compute(store);

        g_assert_true(isnan(totals.figures.tflops_fp32));
        g_assert_cmpuint(totals.figures.tflops_fp32_devices, ==, 0);
        for (unsigned node = 1; node <= 2; node++) {
                put(store, node, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
                put(store, node, ALD_KIND_COMPUTE,
                        "{'Devices': [{'Id': 'cpu', 'GemmTflops': 0.5, 'Precision': 'fp32'}]}");
        }
        totals = compute(store);
        g_assert_true(isnan(totals.figures.tflops_fp16));
        g_assert_cmpfloat(totals.figures.tflops_fp32, ==, 1.0);
        g_assert_cmpuint(totals.figures.tflops_fp32_devices, ==, 2);
        put(store, 3, ALD_KIND_BACKENDS, "{'Devices': [" GPU "]}");
        put(store, 3, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'GemmTflops': 9.0, 'Precision': 'fp16', 'TflopsFp16': "
                "9.0}]}");
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        totals = compute(store);
        g_assert_cmpfloat(totals.figures.tflops_fp16, ==, 9.0);
        g_assert_cmpfloat(totals.figures.tflops_fp32, ==, 0.5);
        g_assert_cmpuint(totals.figures.tflops_fp32_devices, ==, 1);
}

static void test_each_node_by_its_own_devices(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        put(store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'cpu', 'TflopsFp16': 1.25, 'MemoryBandwidthBytesPerSecond': 30}]}");
        check_bandwidth(store, 30, "cpu");

        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " CPU "]}");
        check_bandwidth(store, 30, "cpu");
        put(store, 2, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'TflopsFp16': 20.5, "
                "'MemoryBandwidthBytesPerSecond': 900},"
                " {'Id': 'cpu', 'TflopsFp16': 1, 'MemoryBandwidthBytesPerSecond': 50}]}");
        check_bandwidth(store, 930, "both");
        totals = compute(store);
        g_assert_cmpfloat(totals.figures.tflops_fp16, ==, 21.75);
        g_assert_cmpuint(totals.figures.tflops_fp16_left_out, ==, 0);

        state_put(store, 1, ALD_KIND_COMPUTE, "{'Devices': []}");
        check_bandwidth(store, 900, "gpu");
}

static void test_left_out_by_reason(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        put(store, 1, ALD_KIND_BACKENDS,
                "{'Devices': [{'Id': 'a', 'Class': 'gpu', 'OpenClPlatform': 'x'},"
                " {'Id': 'b', 'Class': 'gpu'}, {'Id': 'c', 'Class': 'cpu', 'OpenClPlatform': 'x'}]}");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [{'Id': 'a', 'Class': 'accelerator'}]}");
        put(store, 2, ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'a', 'Failure': 'busy', 'FailedUSec': 1}]}");
        totals = compute(store);
        g_assert_cmpuint(totals.figures.tflops_fp16_left_out, ==, 4);
        g_assert_cmpuint(totals.tflops_fp16_reasons[ALD_LEFT_OUT_NEVER_MEASURED], ==, 2);
        g_assert_cmpuint(totals.tflops_fp16_reasons[ALD_LEFT_OUT_NO_OPENCL], ==, 1);
        g_assert_cmpuint(totals.tflops_fp16_reasons[ALD_LEFT_OUT_FAILED], ==, 1);
        g_assert_cmpuint(totals.figures.memory_bandwidth_left_out, ==, 4);
        g_assert_cmpuint(totals.memory_bandwidth_reasons[ALD_LEFT_OUT_FAILED], ==, 1);
}

/* Totals that are computed again only if a noted change says so, as the state service does. */
typedef struct Followed {
        AldStore *store;
        AldTotals totals;
        bool stale;
} Followed;

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        Followed *followed = userdata;

        followed->stale |= ald_totals_note_change(entry, before);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        on_changed(entry, NULL, userdata);
}

static const char *random_of(const char *const *texts, size_t n)
{
        return texts[g_test_rand_int_range(0, (gint32) n)];
}

/* Each of them may be equal to the one before, or differ in what no total depends on. */
static void put_any(AldStore *store, unsigned node)
{
        static const char *const memories[] = { "{}", "{'TotalBytes': 9, 'AvailableBytes': 4}",
                "{'TotalBytes': 9, 'AvailableBytes': 5}",
                ("{'TotalBytes': 9, 'AvailableBytes': 5, "
                 "'CachedBytes': 1}"),
                "{'AvailableBytes': 5}" };
        static const char *const systems[] = { "{}",
                "{'Devices': [{'Id': '0000:01:00.0', 'MemoryUsedBytes': 30}]}",
                "{'Devices': [{'Id': '0000:01:00.0', 'MemoryUsedBytes': 30, 'PowerState': 'asleep'}]}",
                "{'Devices': [{'Id': '0000:02:00.0', 'MemoryUsedBytes': 30}]}", "{'PowerMicroWatts': 7}",
                "{'PowerMicroWatts': 8, 'MeterMicroWatts': 9}",
                "{'Devices': [{'Id': '0000:01:00.0', 'PowerMicroWatts': 30}]}",
                "{'PowerMicroWatts': 7, 'Batteries': [{'Id': 'BAT0', 'State': 'discharging', "
                "'PowerMicroWatts': 6}]}",
                "{'PowerMicroWatts': 7, 'Batteries': [{'Id': 'BAT0', 'State': 'charging', 'PowerMicroWatts': "
                "6}]}",
                ("{'Devices': [{'Id': '0000:01:00.0', 'MemoryUsedBytes': 99}, "
                 "{'Id': '0000:02:00.0', 'MemoryUsedBytes': 1}]}") };
        static const char *const backends[] = { "{}", "{'Devices': [" GPU ", " CPU "]}",
                "{'Devices': [" CPU "]}", "{'Devices': [" GPU ", " SECOND_GPU ", " CPU "]}" };
        static const char *const computes[] = { "{}",
                "{'Devices': [{'Id': 'cpu', 'TflopsFp16': 0.1, 'MemoryBandwidthBytesPerSecond': 3}]}",
                "{'Devices': [{'Id': 'cpu', 'GemmTflops': 0.3, 'Precision': 'fp32'}]}",
                ("{'Devices': [{'Id': '0000:01:00.0', 'TflopsFp16': 7.7, "
                 "'MemoryBandwidthBytesPerSecond': 11}]}"),
                "{'Devices': [{'Id': '0000:01:00.0', 'Failure': 'busy', 'FailedUSec': 1}]}" };
        static const char *const doubts[] = { "{}",
                ("{'Figures': [{'Id': '1', 'Device': '0000:01:00.0', 'Field': 'GemmTflops', "
                 "'LeftOut': true}]}"),
                ("{'Figures': [{'Id': '1', 'Device': 'cpu', 'Field': 'MemoryBandwidthBytesPerSecond', "
                 "'LeftOut': true}]}") };
        static const char *const presences[] = { "{}", "{'State': 'online'}",
                "{'State': 'online', 'SinceUSec': 7}", "{'State': 'stale'}", "{'State': 'offline'}" };
        static const struct {
                AldKind kind;
                const char *const *texts;
                size_t n;
        } kinds[] = {
                { ALD_KIND_MEMORY, memories, G_N_ELEMENTS(memories) },
                { ALD_KIND_SYSTEM, systems, G_N_ELEMENTS(systems) },
                { ALD_KIND_BACKENDS, backends, G_N_ELEMENTS(backends) },
                { ALD_KIND_COMPUTE, computes, G_N_ELEMENTS(computes) },
                { ALD_KIND_DOUBTS, doubts, G_N_ELEMENTS(doubts) },
                { ALD_KIND_PRESENCE, presences, G_N_ELEMENTS(presences) },
        };
        size_t i = (size_t) g_test_rand_int_range(0, G_N_ELEMENTS(kinds));

        state_put(store, node, kinds[i].kind, random_of(kinds[i].texts, kinds[i].n));
}

/* A record of any kind is deleted by its node, or by this one if it is about the node. */
static void delete_any(AldStore *store, const AldId *id)
{
        AldNode *node = ald_store_find_node(store, id);
        const AldEntry *entry = NULL;
        AldUpdate update;

        for (int i = g_test_rand_int_range(1, 8); node && i > 0; i--)
                entry = ald_node_after(node, entry);
        if (!entry)
                return;
        update = (AldUpdate){ .node = *id,
                .kind = entry->kind,
                .key = entry->key ? entry->key : "",
                .stamp = { entry->stamp.epoch, entry->stamp.seq + 1 } };
        if (ald_kinds[entry->kind].local)
                ald_store_put_about(store, id, entry->kind, NULL, 0, 0);
        else if (node->local)
                ald_store_put_local(store, entry->kind, update.key, NULL, 0, 0);
        else
                ald_store_put(store, &update, 0);
}

static void change_anything(AldStore *store)
{
        unsigned node = (unsigned) g_test_rand_int_range(1, 8);
        const AldId id = id_make(node);
        AldNode *known = ald_store_find_node(store, &id);

        switch (g_test_rand_int_range(0, 40)) {
        case 0:
                ald_store_lose_presences(store, 5, 0);
                break;
        case 1:
                if (known && ald_node_after(known, NULL))
                        ald_store_forget(store, &id, 1);
                break;
        case 2:
                ald_store_expire(store, 10, 5, 20); /* deletions */
                break;
        case 3:
                ald_store_advance_epoch(store, 0, 0);
                break;
        case 4:
                state_put_link(store, ALD_KIND_LINK_SOCKET, node, node % 7 + 1, 1, "{}");
                break;
        case 5:
        case 6:
        case 7:
                delete_any(store, &id);
                break;
        default:
                put_any(store, node);
        }
}

static void check_followed(Followed *followed)
{
        const AldStruct *type = &ald_cluster_totals_struct;
        AldTotals now;

        if (followed->stale)
                ald_totals_compute(followed->store, &followed->totals);
        followed->stale = false;
        now = compute(followed->store);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (ald_field_compare(field, ald_field_of(field, &now.figures),
                            ald_field_of(field, &followed->totals.figures)) != 0)
                        g_error("%s is not as computed of all records", field->name);
        }
        g_assert_cmpmem(now.tflops_fp16_reasons, sizeof now.tflops_fp16_reasons,
                followed->totals.tflops_fp16_reasons, sizeof now.tflops_fp16_reasons);
        g_assert_cmpmem(now.memory_bandwidth_reasons, sizeof now.memory_bandwidth_reasons,
                followed->totals.memory_bandwidth_reasons, sizeof now.memory_bandwidth_reasons);
}

/* Whatever changes, the kept sums of the nodes lead to the same totals as all records. */
static void test_kept_sums(void)
{
        g_autoptr(AldStore) store = state_make();
        Followed followed = { .store = store, .stale = true };

        ald_store_watch(store, on_changed, on_removing, &followed);
        for (unsigned i = 0; i < 20000; i++) {
                for (int n = g_test_rand_int_range(1, 4); n > 0; n--)
                        change_anything(store);
                check_followed(&followed);
        }
}

/* Other records are not read again: a sum that nobody noted as changed stays as it was kept. */
static void test_only_noted_changes_are_read(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldId id = id_make(2);
        AldTotals totals;

        put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 7, 'AvailableBytes': 3}");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU "]}");
        ald_totals_compute(store, &totals);
        g_assert_cmpuint(totals.figures.device_memory_total_bytes, ==, 80);
        put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 7, 'AvailableBytes': 4}");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" SECOND_GPU "]}");
        g_assert_true(ald_totals_note_change(ald_store_find(store, &id, ALD_KIND_MEMORY, ""), NULL));
        ald_totals_compute(store, &totals);
        g_assert_cmpuint(totals.figures.memory_available_bytes, ==, 4);
        g_assert_cmpuint(totals.figures.device_memory_total_bytes, ==, 80);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/totals/fp32-is-never-added-to-fp16", test_fp32_is_never_added_to_fp16);
        g_test_add_func("/totals/nothing-known", test_nothing_known);
        g_test_add_func("/totals/host-memory", test_host_memory);
        g_test_add_func("/totals/absurd-figures", test_absurd_figures);
        g_test_add_func("/totals/sums-end-at-the-limit", test_sums_end_at_the_limit);
        g_test_add_func("/totals/who-counts", test_who_counts);
        g_test_add_func("/totals/who-is-left-out-has-records", test_who_is_left_out_has_records);
        g_test_add_func("/totals/device-memory-is-dedicated-memory", test_device_memory_is_dedicated_memory);
        g_test_add_func("/totals/free-device-memory", test_free_device_memory);
        g_test_add_func("/totals/power-of-a-node", test_power_of_a_node);
        g_test_add_func("/totals/power-of-the-cluster", test_power_of_the_cluster);
        g_test_add_func("/totals/each-node-by-its-own-devices", test_each_node_by_its_own_devices);
        g_test_add_func("/totals/left-out-by-reason", test_left_out_by_reason);
        g_test_add_func("/totals/kept-sums", test_kept_sums);
        g_test_add_func("/totals/only-noted-changes-are-read", test_only_noted_changes_are_read);
        return g_test_run();
}
