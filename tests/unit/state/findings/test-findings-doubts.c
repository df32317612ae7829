/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is found about figures that other measurements contradict. */
#include <glib.h>

#include "state/compute/doubts.h"
#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

#define ID "device-rate-implausible"
#define CARD                                                                                       \
        "{'Devices': [{'Id': '0000:01:00.0', 'Class': 'gpu', 'Name': 'A100', 'Driver': 'nvidia', " \
        "'DriverVersion': '570', 'MemoryTotalBytes': 42949672960}]}"

static void keep(AldNode *node, AldRecord *record, void *userdata)
{
        if (record || ald_node_record(node, ALD_KIND_DOUBTS))
                ald_store_put_about(userdata, &node->id, ALD_KIND_DOUBTS, record, 1, 1);
}

static void put(AldStore *store, unsigned node, const char *fields)
{
        g_autofree char *compute = g_strdup_printf("{'Devices': [{'Id': '0000:01:00.0', %s}]}", fields);

        state_put(store, node, ALD_KIND_BACKENDS, CARD);
        state_put(store, node, ALD_KIND_COMPUTE, compute);
        state_put_online(store, node);
        ald_doubts_judge(store, keep, store);
}

#define REMEDY                                                                                             \
        "On two, measure it again: \"alidadectl probe compute 0000:01:00.0\". If the figure remains, its " \
        "driver is wrong; or the key of two was stolen, and \"alidadectl cluster revoke "                  \
        "00000002000000000000000000000000\" on the machine on which the cluster was created excludes it."

/* The reporter of the only finding; 0: none. */
static void check_reporter(AldStore *store, unsigned reporter)
{
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_autofree char *id = reporter > 0 ? state_id(reporter) : NULL;

        g_assert_cmpstr(findings_find(findings, ID, 0)->reporter, ==, id);
}

static void test_above_own_limits(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 2, "'TflopsFp16': 250, 'PeakTflops': 312, 'PeakPrecision': 'fp16'");
        g_assert_cmpuint(findings_count_now(store, ID), ==, 0);
        put(store, 2, "'TflopsFp16': 2800, 'PeakTflops': 312, 'PeakPrecision': 'fp16'");
        findings_check(store, ID, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "two reports matrix products at 2.80 PFLOPS for A100 (0000:01:00.0), whose own peak it "
                "reports "
                "as 312 TFLOPS; totals and plans leave that figure out.",
                REMEDY);
        check_reporter(store, 2);
        put(store, 2,
                "'MemoryBandwidthBytesPerSecond': 2199023255552, 'MemoryBandwidthTheoreticalBytesPerSecond': "
                "1099511627776");
        findings_check(store, ID, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "two reports reads of memory at 2.20 TB/s for A100 (0000:01:00.0), whose memory can "
                "carry 1.10 TB/s; totals and plans leave that figure out.",
                REMEDY);
        /* Nothing is found of a node that is not there. */
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        g_assert_cmpuint(findings_count_now(store, ID), ==, 0);
}

static void test_above_equal_devices(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 2, "'TflopsFp16': 600");
        put(store, 3, "'TflopsFp16': 250");
        findings_check(store, ID, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "two reports matrix products at 600 TFLOPS for A100 (0000:01:00.0), more than twice the 250 "
                "TFLOPS "
                "of such a device on three.",
                "Measure the devices of both nodes again, on each of them: \"alidadectl probe compute\".");
        check_reporter(store, 3);
        put(store, 4, "'TflopsFp16': 240");
        check_reporter(store, 0);
        put(store, 5, "'TflopsFp16': 240");
        findings_check(store, ID, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "two reports matrix products at 600 TFLOPS for A100 (0000:01:00.0), more than twice the 250 "
                "TFLOPS "
                "of the best equal device on 3 other nodes; totals and plans leave that figure out.",
                REMEDY);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-doubts/own-limits", test_above_own_limits);
        g_test_add_func("/findings-doubts/equal-devices", test_above_equal_devices);
        return g_test_run();
}
