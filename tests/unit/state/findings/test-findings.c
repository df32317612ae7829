/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

/* A record of a node that is online. */
static void put(AldStore *store, unsigned node, AldKind kind, const char *text)
{
        state_put(store, node, kind, text);
        state_put_online(store, node);
}

static void test_nothing_wrong(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        g_autoptr(GPtrArray) findings = NULL;

        for (AldKind kind = 0; kind < ALD_N_NODE_KINDS; kind++)
                if (kind != ALD_KIND_IDENTITY)
                        put(store, 2, kind, "{}");
        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 3, 1, "{}");
        state_put_link(store, ALD_KIND_LINK_RDMA, 2, 3, 1, "{}");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, 0);
}

static void test_os_versions_differ(void)
{
        g_autoptr(AldStore) store = state_make();

        for (unsigned node = 1; node <= 4; node++)
                put(store, node, ALD_KIND_IDENTITY, "{'OperatingSystem': 'Debian 12'}");
        put(store, 5, ALD_KIND_IDENTITY, "{'FriendlyName': 'five'}");
        g_assert_cmpuint(findings_count_now(store, "os-versions-differ"), ==, 0);
        put(store, 6, ALD_KIND_IDENTITY, "{'FriendlyName': 'six', 'OperatingSystem': 'Alpine 3'}");
        put(store, 7, ALD_KIND_IDENTITY, "{'OperatingSystem': 'Alpine 3'}");
        findings_check(store, "os-versions-differ", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(1, 2, 3, 4, 6, 7),
                "The nodes run different operating systems: Debian 12 on 4 nodes; Alpine 3 on six and "
                "00000007.",
                "Upgrade the nodes to the same release, unless they are meant to differ.");
}

static void test_versions_differ(void)
{
        g_autoptr(AldStore) store = state_make();

        for (unsigned node = 1; node <= 4; node++)
                put(store, node, ALD_KIND_IDENTITY, "{'AlidadeVersion': '0.2.0'}");
        put(store, 5, ALD_KIND_IDENTITY, "{'FriendlyName': 'five'}");
        g_assert_cmpuint(findings_count_now(store, "versions-differ"), ==, 0);
        put(store, 6, ALD_KIND_IDENTITY, "{'FriendlyName': 'six', 'AlidadeVersion': '0.1.0'}");
        findings_check(store, "versions-differ", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(1, 2, 3, 4, 6),
                "The nodes run different versions of Alidade: 0.2.0 on 4 nodes; 0.1.0 on six.",
                "Upgrade the other nodes, too: records that only newer versions know are not shown "
                "everywhere.");
}

static void test_many_operating_systems(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) findings = NULL;

        for (unsigned node = 1; node <= 12; node++) {
                g_autofree char *text = g_strdup_printf("{'OperatingSystem': 'Linux %02u'}", node);

                put(store, node, ALD_KIND_IDENTITY, text);
        }
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_true(g_str_has_suffix(findings_find(findings, "os-versions-differ", 0)->text,
                "; Linux 08 on 00000008; and 4 others."));
}

static void test_friendly_name_shared(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        g_assert_cmpuint(findings_count_now(store, "friendly-name-shared"), ==, 0);
        findings_name_node(store, 4, "two");
        findings_check(store, "friendly-name-shared", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 4),
                "2 nodes share the name \"two\": 00000002, 00000004.",
                "Give each node a name of its own: run \"alidadectl set-name NAME\" on it.");
        /* Elsewhere they are told apart then. */
        put(store, 4, ALD_KIND_MEMORY, "{'PressureFull10': 50}");
        findings_check(store, "memory-pressure", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(4),
                "All tasks on two (00000004) stalled for lack of memory for 50 % of the last 10 s.",
                "Stop something on two (00000004), or move work to a node with more free memory.");
}

static void test_memory_pressure(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 2, ALD_KIND_MEMORY, "{'PressureFull10': 9.99, 'PressureSome10': 90}");
        g_assert_cmpuint(findings_count_now(store, "memory-pressure"), ==, 0);
        put(store, 2, ALD_KIND_MEMORY, "{'PressureFull10': 10}");
        findings_check(store, "memory-pressure", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "All tasks on two stalled for lack of memory for 10 % of the last 10 s.",
                "Stop something on two, or move work to a node with more free memory.");
}

static void test_swap_nearly_full(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        /* Full swap beside much free memory is harmless, and so is little memory beside free swap. */
        put(store, 1, ALD_KIND_MEMORY,
                "{'SwapTotalBytes': 1000, 'SwapAvailableBytes': 0, 'TotalBytes': 1000, 'AvailableBytes': "
                "100}");
        put(store, 2, ALD_KIND_MEMORY,
                "{'SwapTotalBytes': 1000, 'SwapAvailableBytes': 50, 'TotalBytes': 1000, 'AvailableBytes': "
                "10}");
        put(store, 3, ALD_KIND_MEMORY,
                "{'SwapTotalBytes': 0, 'SwapAvailableBytes': 0, 'TotalBytes': 1000, 'AvailableBytes': 10}");
        g_assert_cmpuint(findings_count_now(store, "swap-nearly-full"), ==, 0);
        put(store, 2, ALD_KIND_MEMORY,
                "{'SwapTotalBytes': 8589934592, 'SwapAvailableBytes': 107374182,"
                " 'TotalBytes': 68719476736, 'AvailableBytes': 1610612736}");
        findings_check(store, "swap-nearly-full", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "Only 102 MiB of 8.00 GiB of swap and 1.50 GiB of memory are left on two.",
                "Stop something on two before the kernel does.");
}

/* Remembers whether the last change of node 2 can change findings. */
static void note_change(AldEntry *entry, AldRecord *before, void *userdata)
{
        bool *changes = userdata;

        if (!ald_kinds[entry->kind].local)
                *changes = ald_findings_change_with(entry, before);
}

/* Each changes from the one before it. */
static void test_changes_that_let_time_pass(void)
{
        static const struct {
                AldKind kind;
                const char *text;
                bool changes;
        } cases[] = {
                { ALD_KIND_MEMORY, "{'TotalBytes': 1000, 'AvailableBytes': 900}", true },
                { ALD_KIND_MEMORY, "{'TotalBytes': 1000, 'AvailableBytes': 50, 'PressureFull10': 9}", false },
                { ALD_KIND_MEMORY, "{'TotalBytes': 1000, 'AvailableBytes': 50, 'PressureFull10': 11}", true },
                { ALD_KIND_MEMORY, "{'TotalBytes': 1000, 'AvailableBytes': 40, 'PressureFull10': 60}",
                        false },
                { ALD_KIND_MEMORY,
                        "{'TotalBytes': 1000, 'AvailableBytes': 40, 'PressureFull10': 60, 'SwapTotalBytes': "
                        "100,"
                        " 'SwapAvailableBytes': 2}",
                        true },
                { ALD_KIND_MEMORY,
                        "{'TotalBytes': 1000, 'AvailableBytes': 30, 'PressureFull10': 60, 'SwapTotalBytes': "
                        "100,"
                        " 'SwapAvailableBytes': 1}",
                        false },
                { ALD_KIND_MEMORY, "{'TotalBytes': 1000, 'AvailableBytes': 900}", true },
                { ALD_KIND_MEMORY, "{'TotalBytes': 1000, 'AvailableBytes': 900}", false },
                { ALD_KIND_SYSTEM, "{'CpuUsage': 1}", true },
                { ALD_KIND_SYSTEM, "{'CpuUsage': 2}", false },
                { ALD_KIND_SYSTEM, "{'CpuUsage': 3, 'AbsentReasons': ['A: b']}", true },
                { ALD_KIND_SYSTEM, "{'CpuUsage': 4, 'AbsentReasons': ['A: b']}", false },
                { ALD_KIND_SYSTEM, "{'CpuUsage': 4, 'AbsentReasons': ['A: c']}", true },
                { ALD_KIND_SYSTEM, "{'CpuUsage': 4}", true },
                { ALD_KIND_DISK, "{}", true },
                { ALD_KIND_DISK, "{}", false },
                { ALD_KIND_DISK, "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 999}]}",
                        true },
                { ALD_KIND_DISK, "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 999}]}",
                        false },
        };
        g_autoptr(AldStore) store = findings_named_store();
        uint64_t digest = 0;
        bool changes;

        ald_store_watch(store, note_change, NULL, &changes);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GPtrArray) findings = NULL;

                put(store, 2, cases[i].kind, cases[i].text);
                g_assert_cmpint(changes, ==, cases[i].changes);
                findings = ald_findings_compute(store, FINDINGS_CONTEXT);
                if (i > 0 && !changes)
                        g_assert_cmpuint(ald_findings_digest(findings), ==, digest);
                digest = ald_findings_digest(findings);
        }
}

static void test_disk_nearly_full(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 2, ALD_KIND_DISK,
                "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 30},"
                " {'Id': '/proc', 'TotalBytes': 0, 'AvailableBytes': 0}, {'Id': '/x', 'AvailableBytes': "
                "0}]}");
        g_assert_cmpuint(findings_count_now(store, "disk-nearly-full"), ==, 0);
        put(store, 2, ALD_KIND_DISK,
                "{'Paths': [{'Id': '/', 'TotalBytes': 1024000, 'AvailableBytes': 30719}]}");
        findings_check(store, "disk-nearly-full", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "/ on two has only 30.0 KiB of 1000 KiB left.", "Free space below / on two.");
        put(store, 2, ALD_KIND_DISK, "{'Paths': [{'Id': '/srv', 'TotalBytes': 1000, 'AvailableBytes': 5}]}");
        findings_check(store, "disk-nearly-full", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "/srv on two has only 5 B of 1000 B left.", "Free space below /srv on two.");
        put(store, 2, ALD_KIND_DISK, "{'Paths': [{'Id': '/srv', 'TotalBytes': 1000, 'AvailableBytes': 4}]}");
        findings_check(store, "disk-nearly-full", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(2),
                "/srv on two has only 4 B of 1000 B left.", "Free space below /srv on two.");
}

static void test_device_without_driver(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 2, ALD_KIND_BACKENDS,
                "{'Devices': [{'Id': 'a', 'Class': 'gpu', 'Driver': 'amdgpu'}, {'Id': 'b', 'Class': 'cpu'}, "
                "{'Id': 'c'}, {'Id': '0000:01:00.0/1-0', 'Class': 'gpu', 'Parent': '0000:01:00.0'}, "
                "{'Id': 'llvmpipe', 'Class': 'gpu', 'OpenClPlatform': 'rusticl'}]}");
        g_assert_cmpuint(findings_count_now(store, "device-without-driver"), ==, 0);
        put(store, 2, ALD_KIND_BACKENDS,
                "{'Devices': [{'Id': '0000:01:00.0', 'Class': 'gpu', 'Name': 'GB202', 'Vendor': 'NVIDIA'}]}");
        findings_check(store, "device-without-driver", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "No kernel driver is bound to GB202 (0000:01:00.0) on two, so programs cannot compute on it.",
                "Install the vendor's kernel driver on two.");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [{'Id': 'npu0', 'Class': 'accelerator'}]}");
        findings_check(store, "device-without-driver", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "No kernel driver is bound to accelerator (npu0) on two, so programs cannot compute on it.",
                "Install the vendor's kernel driver on two.");
}

#define OF_CPU "{'Id': 'cpu', 'Class': 'cpu'}"
#define OF_GPU(vendor) "{'Id': '0000:01:00.0', 'Class': 'gpu', 'Driver': 'x', 'Vendor': '" vendor "'}"

static void test_opencl_missing(void)
{
        static const struct {
                const char *backends, *text, *remedy; /* NULL: there is none */
        } cases[] = {
                { "{'OpenCl': 'no-library', 'Devices': [" OF_CPU "]}",
                        "No device of two can be measured: the library of OpenCL is not installed.",
                        "pocl-opencl-icd" },
                { "{'OpenCl': 'no-platform', 'Devices': [" OF_CPU ", " OF_GPU("NVIDIA Corporation") "]}",
                        "No device of two can be measured: no usable OpenCL driver is installed.",
                        "nvidia-opencl-icd" },
                { "{'OpenCl': 'no-device', 'Devices': [" OF_CPU ", " OF_GPU("AMD") "]}",
                        "No device of two can be measured: the installed OpenCL drivers show no device.",
                        "mesa-opencl-icd" },
                /* The processor is measured, and the card is not. */
                { "{'OpenCl': 'available', 'Devices': [{'Id': 'cpu', 'Class': 'cpu', 'OpenClPlatform': 'x'}, "
                  "" OF_GPU("Intel") ", {'Id': '0000:02:00.0', 'Class': 'gpu', 'Driver': 'x', 'Vendor': "
                                     "'NVIDIA'}]}",
                        "Not all devices of two can be measured: no OpenCL driver for the others is "
                        "installed.",
                        "intel-opencl-icd and nvidia-opencl-icd" },
                /* The card is measured, which is enough. */
                { "{'OpenCl': 'available', 'Devices': [" OF_CPU
                  ", {'Id': 'gpu', 'Class': 'gpu', 'Driver': 'x', "
                  "'Vendor': 'NVIDIA', 'OpenClPlatform': 'x'}]}",
                        NULL, NULL },
                /* Of no card is a package known; that of the processor can be measured. */
                { "{'OpenCl': 'no-platform', 'Devices': [" OF_CPU ", " OF_GPU("Moore Threads") "]}",
                        "No device of two can be measured: no usable OpenCL driver is installed.",
                        "pocl-opencl-icd" },
                /* A package for a card would not work with its kernel driver. */
                { "{'OpenCl': 'available', 'Devices': [{'Id': 'cpu', 'Class': 'cpu', 'OpenClPlatform': 'x'}, "
                  "{'Id': 'a', 'Class': 'gpu', 'Driver': 'nouveau', 'Vendor': 'NVIDIA'}]}",
                        NULL, NULL },
                /* Without a kernel driver, that is what is missing. */
                { "{'OpenCl': 'available', 'Devices': [{'Id': 'cpu', 'Class': 'cpu', 'OpenClPlatform': 'x'}, "
                  "{'Id': 'a', 'Class': 'gpu', 'Vendor': 'NVIDIA'}]}",
                        NULL, NULL },
                /* A card that is split is measured as its instances. */
                { "{'OpenCl': 'available', 'Devices': [" OF_GPU(
                          "NVIDIA") ", {'Id': '0000:01:00.0/1-0', 'Class': "
                                    "'gpu', 'Vendor': 'NVIDIA', 'Parent': '0000:01:00.0', 'OpenClPlatform': "
                                    "'x'}]}",
                        NULL, NULL },
                /* OpenCL was not asked yet, or the version of the node does not say. */
                { "{'Devices': [" OF_CPU ", " OF_GPU("NVIDIA") "]}", NULL, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = findings_named_store();
                g_autofree char *remedy = g_strdup_printf(
                        "Install %s on two; other distributions than Debian may name it differently.",
                        cases[i].remedy);

                put(store, 2, ALD_KIND_BACKENDS, cases[i].backends);
                if (cases[i].text)
                        findings_check(store, "opencl-missing", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                                cases[i].text, remedy);
                else
                        g_assert_cmpuint(findings_count_now(store, "opencl-missing"), ==, 0);
        }
}

static void put_join(AldStore *store, const char *join)
{
        g_autofree char *text = g_strdup_printf(
                "{'Devices': [{'Id': '0000:01:00.0', 'Name': 'GB202'}], 'Joins': [{'Id': 'j', 'Device': "
                "'0000:01:00.0', 'Peer': 'host', 'Kind': 'pcie', %s}]}",
                join);

        put(store, 2, ALD_KIND_BACKENDS, text);
}

static void test_lanes(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_join(store, "'Lanes': 16, 'LanesMax': 16, 'SlotLanes': 16, 'TransfersPerSecondMax': 16000000000");
        g_assert_cmpuint(findings_count_now(store, "device-lanes-missing"), ==, 0);
        g_assert_cmpuint(findings_count_now(store, "device-slot-narrow"), ==, 0);
        /* Idle devices lower the rate; what it is in use is not known yet. */
        g_assert_cmpuint(findings_count_now(store, "device-link-slow"), ==, 0);
        put_join(store, "'Lanes': 4, 'LanesMax': 16, 'SlotLanes': 8");
        findings_check(store, "device-lanes-missing", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "On two, GB202 (0000:01:00.0) uses only 4 of its 8 PCIe lanes.",
                "Switch two off and put the card into its slot again; if that does not help, clean its "
                "contacts, try another slot, and check the riser and the settings of the firmware.");
        g_assert_cmpuint(findings_count_now(store, "device-slot-narrow"), ==, 0);
        put_join(store, "'Lanes': 4, 'LanesMax': 16, 'SlotLanes': 4");
        findings_check(store, "device-slot-narrow", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "On two, GB202 (0000:01:00.0) can use 16 PCIe lanes, but its slot has 4.",
                "Move the card to a slot with more lanes if two has one.");
        /* A slot that is not visible may have few lanes. */
        put_join(store, "'Lanes': 8, 'LanesMax': 16");
        g_assert_cmpuint(findings_count_now(store, "device-lanes-missing"), ==, 0);
        put_join(store, "'LanesMax': 16, 'SlotLanes': 16");
        g_assert_cmpuint(findings_count_now(store, "device-lanes-missing"), ==, 0);
        put_join(store,
                "'TransfersPerSecond': 2500000000, 'TransfersPerSecondMax': 16000000000, 'BitsPerSecond': "
                "252000000000");
        findings_check(store, "device-link-slow", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "On two, the PCIe lanes of GB202 (0000:01:00.0) run at 2.50 GT/s while it is in use, instead "
                "of "
                "16.0 GT/s.",
                "Check the riser or cable of the card, the speed that the firmware sets for its slot, and "
                "PCIe "
                "power management (pcie_aspm).");
        /* The driver had slowed the link down; copies were faster than that. */
        put(store, 2, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'HostToDeviceBytesPerSecond': 26000000000}]}");
        g_assert_cmpuint(findings_count_now(store, "device-link-slow"), ==, 0);
        put(store, 2, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'HostToDeviceBytesPerSecond': 13000000000}]}");
        g_assert_cmpuint(findings_count_now(store, "device-link-slow"), ==, 1);
}

#define GPU(id, name, version)                            \
        "{'Id': '" id "', 'Class': 'gpu', 'Name': '" name \
        "', 'Driver': 'nvidia', 'DriverVersion': '" version "'}"

static void test_drivers_differ(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 1, ALD_KIND_BACKENDS,
                "{'Devices': [" GPU("a", "GB202", "1") ", " GPU("b", "GB202", "1") "]}");
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU("a", "GB203", "2") "]}");
        put(store, 3, ALD_KIND_BACKENDS, "{'Devices': [{'Id': 'a', 'Class': 'gpu', 'Name': 'GB202'}]}");
        g_assert_cmpuint(findings_count_now(store, "device-drivers-differ"), ==, 0);
        put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU("a", "GB202", "2") "]}");
        findings_check(store, "device-drivers-differ", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(1, 2),
                "The driver versions for GB202 differ: nvidia 1 on one; nvidia 2 on two.",
                "Install the same driver on all of them, since programs that use several devices need that.");
}

/* One row of Node1.Compute that has waited for so many hours. */
static void wait_for_hours(AldStore *store, double hours, const char *more)
{
        g_autofree char *text = g_strdup_printf("{'Devices': [{'Id': 'a', 'WaitingReason': 'it is in use', "
                                                "'WaitingSinceUSec': %" G_GUINT64_FORMAT "%s}]}",
                FINDINGS_NOW - (uint64_t) (hours * 3600 * G_USEC_PER_SEC), more);

        state_put(store, 2, ALD_KIND_COMPUTE, text);
}

static void test_device_never_free(void)
{
        static const char measured[] = ", 'PeakTflops': 1, 'MeasuredUSec': 1";
        g_autoptr(AldStore) store = findings_named_store();

        state_put(store, 2, ALD_KIND_BACKENDS,
                "{'Devices': [{'Id': 'a', 'Class': 'gpu', 'Driver': 'x', 'Name': 'Great GPU'}]}");
        state_put(store, 2, ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'a'}]}");
        g_assert_cmpuint(findings_count_now(store, "device-never-free"), ==, 0);
        wait_for_hours(store, 1, "");
        g_assert_cmpuint(findings_count_now(store, "device-never-free"), ==, 0);
        wait_for_hours(store, 1.1, "");
        findings_check(store, "device-never-free", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "On two, Great GPU (a) could not be measured for 1 h 6 min: it is in use.",
                "Pause the work on it for a minute, or measure it while it is in use, on two: "
                "\"alidadectl probe compute --force a\".");
        wait_for_hours(store, 3, measured);
        g_assert_cmpuint(findings_count_now(store, "device-never-free"), ==, 0);
        wait_for_hours(store, 50, measured);
        findings_check(store, "device-never-free", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "On two, Great GPU (a) could not be measured again for 2 d 2 h: it is in use.",
                "Pause the work on it for a minute, or measure it while it is in use, on two: "
                "\"alidadectl probe compute --force a\".");
}

static void test_interface_slow(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'a', 'Type': 'ethernet', 'Carrier': true, 'SpeedBitsPerSecond': "
                "1000000000},"
                " {'Id': 'b', 'Type': 'ethernet', 'Carrier': false, 'SpeedBitsPerSecond': 10000000},"
                " {'Id': 'c', 'Type': 'wifi', 'Carrier': true, 'SpeedBitsPerSecond': 10000000},"
                " {'Id': 'd', 'Type': 'ethernet', 'Carrier': true}]}");
        g_assert_cmpuint(findings_count_now(store, "interface-slow"), ==, 0);
        put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': true, 'SpeedBitsPerSecond': "
                "100000000}]}");
        findings_check(store, "interface-slow", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "eth0 on two negotiated only 100 Mb/s.", "Check the cable and the port at its other end.");
}

#define SOCKET_PATH "'SourceInterface': 'eth0', 'SinkAddress': '192.0.2.3'"

static void put_socket(AldStore *store, const char *fields)
{
        g_autofree char *text = g_strdup_printf("{" SOCKET_PATH ", %s}", fields);

        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 3, 1, text);
}

#define CHECK_CABLE "Check the cable, the MTU at both ends and the slots of both adapters."

static void test_link_below_negotiated(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-below-negotiated";

        put_socket(store,
                "'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 500, 'DownloadBitsPerSecond': 940");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 5");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'NegotiatedBitsPerSecond': 5");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);

        put_socket(store, "'NegotiatedBitsPerSecond': 200000000000, 'UploadBitsPerSecond': 13000000000,"
                          " 'DownloadBitsPerSecond': 190000000000");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is slower than it should be: 200 Gb/s "
                "negotiated, "
                "13.0 Gb/s measured from two to three.",
                CHECK_CABLE);
        put_socket(store, "'NegotiatedBitsPerSecond': 200000000000, 'UploadBitsPerSecond': 190000000000,"
                          " 'DownloadBitsPerSecond': 13000000000");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is slower than it should be: 200 Gb/s "
                "negotiated, "
                "13.0 Gb/s measured from three to two.",
                CHECK_CABLE);
        put_socket(store,
                "'NegotiatedBitsPerSecond': 2500000000, 'UploadBitsPerSecond': 941000000,"
                " 'DownloadBitsPerSecond': 5000, 'UploadLimiter': 'network', 'DownloadLimiter': 'receiver'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is slower than it should be: 2.50 Gb/s "
                "negotiated, "
                "941 Mb/s measured from two to three and 5.00 kb/s from three to two.",
                "The receiver limited the rate, not the network: check its load, its interrupts and the slot "
                "of its adapter.");
}

static void test_slower_end_is_no_shortfall(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-below-negotiated";
        static const char network[] =
                "{'Interfaces': [{'Id': 'lan', 'Type': '%s', 'SpeedBitsPerSecond': 1000000000, "
                "'Addresses': ['192.0.2.33/24', '%s/24']}]}";
        g_autofree char *other = g_strdup_printf(network, "ethernet", "192.0.2.30");
        g_autofree char *right = g_strdup_printf(network, "ethernet", "192.0.2.3");

        put_socket(store, "'NegotiatedBitsPerSecond': 10000000000, 'UploadBitsPerSecond': 941000000");
        g_assert_cmpuint(findings_count_now(store, id), ==, 1);
        put(store, 3, ALD_KIND_NETWORK, other);
        g_assert_cmpuint(findings_count_now(store, id), ==, 1);
        put(store, 3, ALD_KIND_NETWORK, right);
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        /* The slower end negotiated 1 Gb/s; measured against that it falls short all the same. */
        put_socket(store, "'NegotiatedBitsPerSecond': 10000000000, 'UploadBitsPerSecond': 94100000");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is slower than it should be: 1.00 Gb/s "
                "negotiated, "
                "94.1 Mb/s measured from two to three.",
                CHECK_CABLE);
}

static void test_radio_is_judged_mildly(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-below-negotiated";
        static const char remedy[] =
                "Bring the antennas closer together, change the channel, or use a cable.";

        put_socket(store,
                "'SourceInterfaceType': 'wifi', 'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 250");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store,
                "'SourceInterfaceType': 'wifi', 'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 249");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is slower than it should be: 1.00 kb/s "
                "negotiated, "
                "249 b/s measured from two to three.",
                remedy);
        /* Also where the radio is at the other end. */
        put_socket(store, "'SourceInterfaceType': 'ethernet', 'NegotiatedBitsPerSecond': 1000, "
                          "'UploadBitsPerSecond': 250");
        g_assert_cmpuint(findings_count_now(store, id), ==, 1);
        put_socket(store, "'SourceInterfaceType': 'ethernet', 'SinkInterfaceType': 'wifi', "
                          "'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 250");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        /* Of a record that does not say it, by that of the sink. */
        put_socket(store, "'SourceInterfaceType': 'ethernet', 'NegotiatedBitsPerSecond': 1000, "
                          "'UploadBitsPerSecond': 250");
        state_put(store, 3, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'br0', 'Type': 'bridge', 'Ports': ['wlan0'], 'Addresses': "
                "['192.0.2.3/24']}, {'Id': 'wlan0', 'Type': 'wifi', 'Controller': 'br0'}]}");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
}

/* A figure that may as well be a good one accuses nobody. */
static void test_wide_interval_is_no_shortfall(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_socket(store,
                "'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 400, 'UploadInterval': 24.0, "
                "'DownloadBitsPerSecond': 850");
        g_assert_cmpuint(findings_count_now(store, "link-below-negotiated"), ==, 1);
        g_assert_cmpuint(findings_count_now(store, "link-asymmetric"), ==, 0);
        put_socket(store,
                "'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 400, 'UploadInterval': 25.0, "
                "'DownloadBitsPerSecond': 850");
        g_assert_cmpuint(findings_count_now(store, "link-below-negotiated"), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 400, 'UploadInterval': 5.0, 'DownloadBitsPerSecond': 850, "
                          "'DownloadInterval': 5.0");
        g_assert_cmpuint(findings_count_now(store, "link-asymmetric"), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 400, 'UploadInterval': 5.0, 'DownloadBitsPerSecond': 850");
        g_assert_cmpuint(findings_count_now(store, "link-asymmetric"), ==, 1);
}

/* Nor one that other traffic made. */
static void test_disturbed_row_finds_nothing(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        g_autoptr(GPtrArray) findings = NULL;

        put_socket(store,
                "'NegotiatedBitsPerSecond': 1000, 'UploadBitsPerSecond': 10, 'UploadInterval': 40.0, "
                "'DownloadBitsPerSecond': 900, 'MeasuredUSec': 6, 'Flags': ['disturbed', 'unsteady']");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, 0);
        put_socket(store,
                "'UploadBitsPerSecond': 10, 'MeasuredUSec': 6, 'FailedUSec': 7, 'Flags': ['disturbed']");
        g_assert_cmpuint(findings_count_now(store, "link-probe-failing"), ==, 1);
}

static void test_link_unsteady(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-unsteady";

        put_socket(store, "'UploadBitsPerSecond': 1000, 'UploadInterval': 25.0, 'UploadSpread': 50.0, "
                          "'DownloadInterval': 90.0");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 420000000, 'UploadInterval': 31.0, "
                          "'DownloadBitsPerSecond': 941000000, 'DownloadInterval': 0.4");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is unsteady: 420 Mb/s ±31 % from two to "
                "three.",
                "Look for packet loss, other traffic and load at both ends and on the way.");
        put_socket(store,
                "'UploadBitsPerSecond': 420000000, 'UploadSpread': 51.0, 'SinkInterfaceType': 'wifi', "
                "'DownloadBitsPerSecond': 500000000, 'DownloadInterval': 4.0, 'DownloadSpread': 60.0");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is unsteady: 420 Mb/s from two to three, "
                "with a "
                "spread of 51 %; 500 Mb/s ±4 % from three to two, with a spread of 60 %.",
                "Bring the antennas closer together, change the channel, or use a cable.");
}

/* An estimate while the path is not measured again, then the figures, for an hour. */
static void test_link_rate_changed(void)
{
        static const char estimated[] =
                "'UploadBitsPerSecond': 190000000, 'DownloadBitsPerSecond': 190000000, "
                "'SpotUploadBitsPerSecond': 200000000, 'SpotDownloadBitsPerSecond': "
                "200000000, 'LastSpotUploadBitsPerSecond': %u, "
                "'LastSpotDownloadBitsPerSecond': %u, 'Changed': '%s', 'ChangedUSec': "
                "354600000000%s";
        static const char measured[] =
                "'UploadBitsPerSecond': %u, 'DownloadBitsPerSecond': 941000000, "
                "'UploadBeforeBitsPerSecond': 190000000, "
                "'DownloadBeforeBitsPerSecond': 941000000, 'MeasuredUSec': 359000000000, "
                "'RateChangedUSec': %s";
        static const char remedy[] = "Find out what has changed since then at both ends and on the way: "
                                     "cables, drivers, settings, or "
                                     "other traffic.";
        static const char id[] = "link-rate-changed";
        g_autoptr(AldStore) store = findings_named_store();
        g_autofree char *fell = g_strdup_printf(estimated, 121000000, 190000000, "rate", "");
        g_autofree char *rose = g_strdup_printf(estimated, 180000000, 500000000, "rate", "");
        g_autofree char *same = g_strdup_printf(estimated, 170000000, 200000000, "rate", "");
        g_autofree char *errors = g_strdup_printf(estimated, 121000000, 190000000, "errors", "");
        g_autofree char *unsteady = g_strdup_printf(
                estimated, 121000000, 190000000, "rate", ", 'Flags': ['unsteady']");
        g_autofree char *figure = g_strdup_printf(measured, 115000000, "356400000001");
        g_autofree char *higher = g_strdup_printf(measured, 400000000, "356400000001");
        g_autofree char *old = g_strdup_printf(measured, 115000000, "356400000000");

        put_socket(store, fell);
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The rate from two to three (eth0 to 192.0.2.3) fell from 190 Mb/s to about 115 Mb/s, as "
                "found "
                "at 1970-01-05 02:30:00 UTC.",
                remedy);
        put_socket(store, rose);
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The rate from three to two (eth0 to 192.0.2.3) rose from 190 Mb/s to about 475 Mb/s, as "
                "found "
                "at 1970-01-05 02:30:00 UTC.",
                NULL);
        put_socket(store, same);
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, errors);
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, unsteady);
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, figure);
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The rate from two to three (eth0 to 192.0.2.3) fell from 190 Mb/s to 115 Mb/s, as found at "
                "1970-01-05 03:00:00 UTC.",
                remedy);
        put_socket(store, higher);
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The rate from two to three (eth0 to 192.0.2.3) rose from 190 Mb/s to 400 Mb/s, as found at "
                "1970-01-05 03:00:00 UTC.",
                NULL);
        put_socket(store, old);
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
}

static void test_link_partly_measured(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_socket(store, "'DownloadBitsPerSecond': 940, 'MeasuredUSec': 6, "
                          "'Failure': 'partial: upload: too little arrived'");
        g_assert_cmpuint(findings_count_now(store, "link-probe-failing"), ==, 0);
        findings_check(store, "link-partly-measured", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The rate from two to three (eth0 to 192.0.2.3) could not be measured: upload: too little "
                "arrived.",
                "Look for packet loss and for a very slow line on the way.");
}

static void test_rdma_below_negotiated(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-below-negotiated";

        state_put_link(store, ALD_KIND_LINK_RDMA, 2, 3, 1,
                "{'SourcePort': 'mlx5_0.1', 'SinkPort': 'mlx4_0.1', 'NegotiatedBitsPerSecond': 200000000000,"
                " 'UploadBitsPerSecond': 37000000000, 'DownloadBitsPerSecond': 37400000000}");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The link from two to three (mlx5_0.1 to mlx4_0.1) is slower than it should be: 200 Gb/s "
                "negotiated, "
                "37.0 Gb/s measured from two to three and 37.4 Gb/s from three to two.",
                CHECK_CABLE);
        put(store, 3, ALD_KIND_FABRIC,
                "{'RdmaPorts': [{'Id': 'mlx4_0.1', 'State': 'active', 'Gids': ['0 ib x'], "
                "'RateBitsPerSecond': 40000000000}]}");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
}

static void test_link_probe_failing(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-probe-failing";
        static const char remedy[] =
                "Check that three is up and that no firewall between the two blocks the probe.";

        put_socket(store, "'MeasuredUSec': 6, 'FailedUSec': 6, 'Failure': 'refused'");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'MeasuredUSec': 6, 'Failure': 'refused'");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);

        put_socket(store, "'FailedUSec': 6, 'Failure': 'connection refused'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The last probe of the link from two to three (eth0 to 192.0.2.3) failed: connection "
                "refused; "
                "it was never measured.",
                remedy);
        put_socket(store, "'FailedUSec': 349200000001, 'MeasuredUSec': 349200000000");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The last probe of the link from two to three (eth0 to 192.0.2.3) failed for an unknown "
                "reason; "
                "its figures are 3 h old.",
                remedy);
        put_socket(store, "'FailedUSec': 360000000002, 'MeasuredUSec': 360000000001, 'Failure': 'timeout'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The last probe of the link from two to three (eth0 to 192.0.2.3) failed: timeout; "
                "the age of its figures is unknown.",
                remedy);
}

/* A path that never worked beside one that does is a net of one end alone. */
static void test_another_path_works(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char text[] =
                "The last probe of the link from two to three (192.0.2.9) failed: timeout; "
                "it was never measured.";
        static const char remedy[] =
                "Check that three is up and that no firewall between the two blocks the probe.";

        state_put_path(store, 2, 3, "192.0.2.9", "{'FailedUSec': 6, 'Failure': 'timeout'}");
        findings_check(
                store, "link-probe-failing", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3), text, remedy);
        state_put_path(store, 2, 4, "192.0.2.4", "{'MeasuredUSec': 6}");
        findings_check(
                store, "link-probe-failing", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3), text, remedy);
        state_put_path(store, 2, 3, "192.0.2.3", "{'MeasuredUSec': 6}");
        findings_check(
                store, "link-probe-failing", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3), text, remedy);
}

/* Behind NAT only one end can begin. */
static void test_the_other_end_measures(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-probe-failing";
        static const char text[] = "The last probe of the link from two to three (eth0 to 192.0.2.3) failed: "
                                   "timeout; three measures it instead.";
        static const char remedy[] =
                "Nothing needs to be done if two cannot reach the network of three, as with NAT.";

        put_socket(store, "'FailedUSec': 6, 'Failure': 'timeout'");
        state_put_path(store, 3, 2, "192.0.2.2", "{'FailedUSec': 6, 'Failure': 'timeout'}");
        g_assert_cmpuint(findings_count_now(store, id), ==, 2);
        state_put_path(store, 3, 2, "192.0.2.2", "{'MeasuredUSec': 9}");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3), text, remedy);
        put_socket(store, "'MeasuredUSec': 5, 'FailedUSec': 6, 'Failure': 'timeout'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3), text, remedy);
        /* What the other end measured before is no replacement. */
        put_socket(store, "'MeasuredUSec': 5, 'RttMeasuredUSec': 10, 'FailedUSec': 12, 'Failure': 'timeout'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The last probe of the link from two to three (eth0 to 192.0.2.3) failed: timeout; its "
                "figures "
                "are 4 d old.",
                "Check that three is up and that no firewall between the two blocks the probe.");
}

static guint count_severity(GPtrArray *findings, const char *id, const char *severity)
{
        guint n = 0;

        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                n += strcmp(row->id, id) == 0 && strcmp(row->severity, severity) == 0 &&
                     row->left_out == ALD_ABSENT_UINT64;
        }
        return n;
}

/* Several paths each way: only the newest that works counts, over sockets and over RDMA apart. */
static void test_newest_success_of_the_other_end(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-probe-failing";
        static const struct {
                const char *failing, *first, *second;
                const char *severity;
        } cases[] = {
                { "'MeasuredUSec': 5", "'MeasuredUSec': 4", "'MeasuredUSec': 6", "notice" },
                { "'MeasuredUSec': 5", "'MeasuredUSec': 6", "'MeasuredUSec': 4", "notice" },
                { "'MeasuredUSec': 5", "'MeasuredUSec': 4", "'MeasuredUSec': 5", "warning" },
                { "'MeasuredUSec': 5", "'MeasuredUSec': 4, 'RttMeasuredUSec': 6", "'MeasuredUSec': 5",
                        "notice" },
                { "'MeasuredUSec': 5, 'RttMeasuredUSec': 7", "'MeasuredUSec': 6", "'MeasuredUSec': 5",
                        "warning" },
                { "'Failures': 1", "'MeasuredUSec': 4", "'MeasuredUSec': 0", "notice" },
                { "'Failures': 1", "'RttMeasuredUSec': 4", "'RttMeasuredUSec': 5", "warning" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *failing = g_strdup_printf(
                        "{%s, 'FailedUSec': 9, 'Failure': 'timeout'}", cases[i].failing);
                g_autofree char *first = g_strdup_printf("{%s}", cases[i].first);
                g_autofree char *second = g_strdup_printf("{%s}", cases[i].second);
                g_autoptr(GPtrArray) findings = NULL;

                state_put_path(store, 2, 3, "192.0.2.3", failing);
                state_put_path(store, 3, 2, "192.0.2.2", first);
                state_put_path(store, 3, 2, "198.51.100.2", second);
                state_put_ports(store, 3, "a.1", 2, "b.1", "{'MeasuredUSec': 8}");
                state_put_path(store, 3, 4, "192.0.2.4", "{'MeasuredUSec': 8}");
                findings = ald_findings_compute(store, FINDINGS_CONTEXT);
                g_assert_cmpuint(findings_count(findings, id), ==, 1);
                g_assert_cmpuint(count_severity(findings, id, cases[i].severity), ==, 1);
        }
}

/* Two members with as many failed links to each other as they may have: with each link of the one, all of the
 * other would have to be read, 17 million. */
static void test_mutual_failed_links(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-probe-failing";
        const unsigned n = 4096;
        uint64_t found = 0;
        g_autoptr(GPtrArray) findings = NULL;

        for (unsigned i = 0; i < n; i++) {
                g_autofree char *address = g_strdup_printf("10.0.%u.%u", i / 256, i % 256);

                state_put_path(store, 2, 3, address, "{'FailedUSec': 6, 'Failure': 'timeout'}");
                state_put_path(store, 3, 2, address, "{'FailedUSec': 6, 'Failure': 'timeout'}");
        }
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                g_assert_cmpstr(row->id, ==, id);
                g_assert_cmpstr(row->severity, ==, "warning");
                found += row->left_out == ALD_ABSENT_UINT64 ? 1 : row->left_out;
        }
        g_assert_cmpuint(found, ==, 2 * n);
}

static void test_lost_full_packets(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char remedy[] =
                "Set the same MTU on both ends and on all switches and bridges between them, or "
                "lower that of eth0 on two.";

        put_socket(store,
                "'FailedUSec': 6, 'RttP50NSec': 9, 'RttMeasuredUSec': 6, 'Failure': 'the probe returned no "
                "rates: upload: full-size packets are lost, MTU 9000 here, less on the way'");
        findings_check(store, "link-probe-failing", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The last probe of the link from two to three (eth0 to 192.0.2.3) failed: the probe returned "
                "no "
                "rates: upload: full-size packets are lost, MTU 9000 here, less on the way; it was never "
                "measured.",
                remedy);
        put_socket(store,
                "'DownloadBitsPerSecond': 940, 'MeasuredUSec': 6, 'Failure': 'partial: upload: MTU 9000 "
                "here, less on the way'");
        findings_check(store, "link-partly-measured", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The rate from two to three (eth0 to 192.0.2.3) could not be measured: upload: MTU 9000 "
                "here, less on "
                "the way.",
                remedy);
}

static void test_closed_ports(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-probe-failing";

        put_socket(store, "'FailedUSec': 6, 'Failure': '192.0.2.3 port 7461: no answer'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "three accepts no probes from two (eth0 to 192.0.2.3) on TCP port 7461: 192.0.2.3 port "
                "7461: no answer; it was never measured.",
                "If alidade-link-probed is running on three, allow its ports there: \"firewall-cmd "
                "--permanent "
                "--add-service=alidade-link-probe && firewall-cmd --reload\", or \"ufw allow 'Alidade link "
                "probes'\". Then run \"alidadectl probe link three\" on two.");
        /* The ports of the other machine have nothing to do with it. */
        put_socket(store,
                "'FailedUSec': 6, 'Failure': '192.0.2.3 port 7461: a route of this machine discards what is "
                "sent there (blackhole)'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "The last probe of the link from two to three (eth0 to 192.0.2.3) failed: 192.0.2.3 port "
                "7461: "
                "a route of this machine discards what is sent there (blackhole); it was never measured.",
                "Check that three is up and that no firewall between the two blocks the probe.");
        put_socket(store, "'FailedUSec': 6, 'Failure': '192.0.2.3 port 7463: No route to host; data "
                          "connections use TCP ports 7462 to 7477'");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "three accepts probes from two (eth0 to 192.0.2.3), but no data connections on TCP ports "
                "7462 to "
                "7477; it was never measured.",
                "Allow these ports on three: \"firewall-cmd --permanent --add-service=alidade-link-probe && "
                "firewall-cmd --reload\", or \"ufw allow 'Alidade link probes'\". Then run \"alidadectl "
                "probe "
                "link three\" on two.");
}

static void test_link_asymmetric(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char id[] = "link-asymmetric";

        put_socket(store, "'UploadBitsPerSecond': 1000, 'DownloadBitsPerSecond': 500");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 1000");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 0, 'DownloadBitsPerSecond': 0");
        g_assert_cmpuint(findings_count_now(store, id), ==, 0);
        put_socket(store, "'UploadBitsPerSecond': 200000000, 'DownloadBitsPerSecond': 941000000");
        findings_check(store, id, ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "The link from two to three (eth0 to 192.0.2.3) is asymmetric: 200 Mb/s from two to three, "
                "941 Mb/s from three to two.",
                "Compare the duplex modes, offload settings and load of both ends.");
        /* The other end measured the same; but its other path is faster the other way. */
        state_put_path(store, 3, 2, "192.0.2.2",
                "{'UploadBitsPerSecond': 941000000, 'DownloadBitsPerSecond': 200000000}");
        g_assert_cmpuint(findings_count_now(store, id), ==, 1);
        state_put_path(store, 3, 2, "198.51.100.2",
                "{'UploadBitsPerSecond': 200000000, 'DownloadBitsPerSecond': 941000000}");
        g_assert_cmpuint(findings_count_now(store, id), ==, 2);
}

static void test_link_of_unknown_path(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        state_put_link(store, ALD_KIND_LINK_RDMA, 2, 9, 1, "{'Failure': 'x'}");
        state_put_online(store, 9);
        findings_check(store, "link-probe-failing", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 9),
                "The last probe of the link from two to 00000009 failed: x; it was never measured.",
                "Check that 00000009 is up and that no firewall between the two blocks the probe.");
}

/* A node with a Thunderbolt domain of its number, a bridge and cables to the domains of others. */
static void put_bridged(
        AldStore *store, unsigned node, const char *bridged, unsigned n_peers, const unsigned *peers)
{
        g_autoptr(GString) fabric = g_string_new("{'ThunderboltPorts': [");
        g_autofree char *network = g_strdup_printf("{'Interfaces': [{'Id': 'br0', 'Type': 'bridge', 'Ports': "
                                                   "[%s]}, {'Id': 'tb0'}, {'Id': 'tb1'}]}",
                bridged);

        for (unsigned i = 0; i < n_peers; i++)
                g_string_append_printf(fabric,
                        "%s{'Id': '0-%u', 'DomainId': 'd%u', 'PeerDomainId': 'd%u', "
                        "'Interface': 'tb%u'}",
                        i > 0 ? ", " : "", 2 * i + 1, node, peers[i], i);
        g_string_append(fabric, "]}");
        put(store, node, ALD_KIND_FABRIC, fabric->str);
        put(store, node, ALD_KIND_NETWORK, network);
}

#define PEERS(...) G_N_ELEMENTS(((const unsigned[]){ __VA_ARGS__ })), ((const unsigned[]){ __VA_ARGS__ })
#define BOTH "'tb0', 'tb1', 'eth0'"
#define CUT_LOOP "Unplug one of these cables, remove one port from its bridge, or enable STP on each bridge."

static void test_bridge_loop(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        /* A chain is no loop, nor a ring that one of them does not bridge. */
        put_bridged(store, 1, BOTH, PEERS(2));
        put_bridged(store, 2, BOTH, PEERS(1, 3));
        put_bridged(store, 3, BOTH, PEERS(2));
        g_assert_cmpuint(findings_count_now(store, "bridge-loop"), ==, 0);
        put_bridged(store, 1, BOTH, PEERS(2, 3));
        put_bridged(store, 3, "'tb0'", PEERS(2, 1));
        g_assert_cmpuint(findings_count_now(store, "bridge-loop"), ==, 0);

        put_bridged(store, 3, BOTH, PEERS(2, 1));
        findings_check(store, "bridge-loop", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1, 2, 3),
                "The bridges of one, two and three form a loop over their Thunderbolt cables.", CUT_LOOP);
}

static void test_loose_ends_are_not_of_the_loop(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        /* 5 - 4 - 1, and the ring 1 2 3. */
        put_bridged(store, 1, "'tb0', 'tb1', 'tb2'", PEERS(2, 3, 4));
        put_bridged(store, 2, BOTH, PEERS(1, 3));
        put_bridged(store, 3, BOTH, PEERS(2, 1));
        put_bridged(store, 4, BOTH, PEERS(1, 5));
        put_bridged(store, 5, BOTH, PEERS(4));
        findings_check(store, "bridge-loop", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1, 2, 3),
                "The bridges of one, two and three form a loop over their Thunderbolt cables.", CUT_LOOP);
}

static void test_two_cables_are_a_loop(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_bridged(store, 1, BOTH, PEERS(2, 2));
        put_bridged(store, 2, "'tb0'", PEERS(1, 1));
        g_assert_cmpuint(findings_count_now(store, "bridge-loop"), ==, 0);
        put_bridged(store, 2, BOTH, PEERS(1, 1));
        findings_check(store, "bridge-loop", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1, 2),
                "The bridges of one and two form a loop over their Thunderbolt cables.", CUT_LOOP);
        /* Two cables into two bridges of one host are none. */
        put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'br0', 'Type': 'bridge', 'Ports': ['tb0']},"
                " {'Id': 'br1', 'Type': 'bridge', 'Ports': ['tb1']}]}");
        g_assert_cmpuint(findings_count_now(store, "bridge-loop"), ==, 0);
        /* A bond is no bridge. */
        put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'bond0', 'Type': 'bond', 'Ports': ['tb0', 'tb1']}]}");
        g_assert_cmpuint(findings_count_now(store, "bridge-loop"), ==, 0);
}

static void test_each_loop_is_told(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) findings = NULL;

        for (unsigned node = 2; node < 8; node++) {
                unsigned first = node < 5 ? 2 : 5;

                put_bridged(store, node, BOTH,
                        PEERS(first + (node - first + 1) % 3, first + (node - first + 2) % 3));
        }
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings_count(findings, "bridge-loop"), ==, 2);
        g_assert_cmpuint(g_strv_length((char **) findings_find(findings, "bridge-loop", 0)->nodes), ==, 3);
        g_assert_cmpuint(g_strv_length((char **) findings_find(findings, "bridge-loop", 1)->nodes), ==, 3);
}

/* Against a search for rings without any cleverness: a bridge is in a loop, or between loops, if it stays
 * when bridges with fewer than two cables are taken out again and again. */
static void test_random_cables(void)
{
        for (unsigned round = 0; round < 200; round++) {
                g_autoptr(AldStore) store = state_make();
                g_autoptr(GPtrArray) findings = NULL;
                unsigned cables[6][6] = { 0 }, peers[64], degree[6], stripped = 1, ring = 0, told = 0;

                for (unsigned i = (unsigned) g_test_rand_int_range(0, 9); i > 0; i--) {
                        unsigned a = (unsigned) g_test_rand_int_range(0, 6),
                                 b = (unsigned) g_test_rand_int_range(0, 6);

                        if (a != b)
                                cables[a][b] = ++cables[b][a];
                }
                for (unsigned a = 0; a < 6; a++) {
                        unsigned n = 0;

                        for (unsigned b = 0; b < 6; b++)
                                for (unsigned i = 0; i < cables[a][b]; i++)
                                        peers[n++] = b + 2;
                        put_bridged(store, a + 2,
                                "'tb0', 'tb1', 'tb2', 'tb3', 'tb4', 'tb5', 'tb6', 'tb7', 'tb8'", n, peers);
                }
                while (stripped > 0) {
                        stripped = 0;
                        for (unsigned a = 0; a < 6; a++) {
                                degree[a] = 0;
                                for (unsigned b = 0; b < 6; b++)
                                        degree[a] += cables[a][b];
                                for (unsigned b = 0; b < 6 && degree[a] == 1; b++) {
                                        stripped += cables[a][b];
                                        cables[a][b] = cables[b][a] = 0;
                                }
                        }
                }
                for (unsigned a = 0; a < 6; a++)
                        ring += degree[a] > 0;
                findings = ald_findings_compute(store, FINDINGS_CONTEXT);
                for (guint i = 0; i < findings->len; i++)
                        told += g_strv_length((char **) ((AldFindingRow *) findings->pdata[i])->nodes);
                g_assert_cmpuint(told, ==, ring);
        }
}

static void put_presence(AldStore *store, unsigned node, const char *state, const char *more)
{
        g_autofree char *text = g_strdup_printf("{'State': '%s'%s}", state, more);

        state_put(store, node, ALD_KIND_PRESENCE, text);
}

static void test_node_offline(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_presence(store, 2, "stale", ", 'SinceUSec': 1");
        put_presence(store, 3, "online", "");
        g_assert_cmpuint(findings_count_now(store, "node-offline"), ==, 0);
        put_presence(store, 2, "offline", ", 'SinceUSec': 359940000000"); /* a minute */
        findings_check(store, "node-offline", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "two has been offline since 1970-01-05 03:59:00 UTC.",
                "Start it, or drop its records: \"alidadectl forget 00000002\".");
        put_presence(store, 2, "offline", ", 'SinceUSec': 360000000001"); /* in the future */
        findings_check(store, "node-offline", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2), "two is offline.",
                "Start it, or drop its records: \"alidadectl forget 00000002\".");
        put_presence(store, 2, "offline", "");
        findings_check(store, "node-offline", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2), "two is offline.",
                "Start it, or drop its records: \"alidadectl forget 00000002\".");
}

/* As long as an interface may lead to others, or there is no other node, nothing is said. */
static void test_node_cut_off(void)
{
        static const struct {
                const char *interfaces;
                guint told;
        } cases[] = {
                { "[{'Id': 'lo', 'Type': 'loopback', 'Carrier': true}, {'Id': 'eth0', 'Type': 'ethernet', "
                  "'Carrier': false}, "
                  "{'Id': 'veth1', 'Type': 'veth', 'Carrier': true}]",
                        1 },
                { "[{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': false}, {'Id': 'eth1', 'Type': 'ethernet', "
                  "'Carrier': true}]",
                        0 },
                { "[{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': false}, {'Id': 'wlan0', 'Type': 'wifi'}]",
                        0 },
                { "[{'Id': 'lo', 'Type': 'loopback', 'Carrier': true}]", 0 },
                { "[{'Id': 'veth0', 'Type': 'veth', 'Carrier': false}]", 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = findings_named_store(), alone = state_make();
                g_autofree char *text = g_strdup_printf("{'Interfaces': %s}", cases[i].interfaces);

                put(store, 1, ALD_KIND_NETWORK, text);
                put(alone, 1, ALD_KIND_NETWORK, text);
                g_assert_cmpuint(findings_count_now(store, "node-cut-off"), ==, cases[i].told);
                g_assert_cmpuint(findings_count_now(alone, "node-cut-off"), ==, 0);
                if (cases[i].told > 0)
                        findings_check(store, "node-cut-off", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(1),
                                "one cannot reach any other node, since none of its network interfaces has a "
                                "carrier.",
                                "Check its cables and the switches at their other ends.");
        }
}

/* Of a node that does not count nothing else is said, whatever it left behind. */
static void test_nothing_else_of_nodes_that_are_gone(void)
{
        static const struct {
                const char *state, *id;
        } cases[] = {
                { "offline", "node-offline" },
                { "duplicate", "duplicate-node-id" },
                { "unknown", "nodes-unknown" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = findings_named_store();
                g_autoptr(GPtrArray) before = NULL, findings = NULL;
                const AldFindingRow *finding;
                const unsigned peer = 3;

                findings_name_node(store, 2, "three"); /* the same as 3 */
                put(store, 3, ALD_KIND_IDENTITY, "{'FriendlyName': 'three', 'OperatingSystem': 'Alpine 3'}");
                put(store, 2, ALD_KIND_IDENTITY, "{'FriendlyName': 'three', 'OperatingSystem': 'Debian 12'}");
                put(store, 2, ALD_KIND_MEMORY,
                        "{'PressureFull10': 50, 'TotalBytes': 100, 'AvailableBytes': 1, 'SwapTotalBytes': "
                        "100,"
                        " 'SwapAvailableBytes': 1}");
                put(store, 2, ALD_KIND_DISK,
                        "{'Paths': [{'Id': '/mnt', 'TotalBytes': 100, 'AvailableBytes': 0}]}");
                put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [{'Id': 'npu0', 'Class': 'accelerator'}]}");
                put(store, 2, ALD_KIND_SYSTEM, "{'AbsentReasons': ['CpuUsage: x']}");
                put_socket(store, "'UploadBitsPerSecond': 1, 'DownloadBitsPerSecond': 5, 'MeasuredUSec': 1,"
                                  " 'FailedUSec': 2, 'Failure': 'refused'");
                put_bridged(store, 2, "'tb0', 'tb1'", 1, &peer);
                put(store, 2, ALD_KIND_NETWORK,
                        "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': true,"
                        " 'SpeedBitsPerSecond': 1}]}");
                put(store, 2, ALD_KIND_FABRIC,
                        "{'RdmaPorts': [{'Id': 'rxe0.1', 'State': 'down', 'NodeGuid': "
                        "'5254:00ff:fe12:3456'}]}");
                put(store, 3, ALD_KIND_FABRIC,
                        "{'RdmaPorts': [{'Id': 'rxe0.1', 'State': 'active', 'Gids': ['0 x y'],"
                        " 'NodeGuid': '5254:00ff:fe12:3456'}]}");
                before = ald_findings_compute(store, FINDINGS_CONTEXT);
                g_assert_cmpuint(before->len, >=, 11);

                put_presence(store, 2, cases[i].state,
                        ", 'SinceUSec': 359940000000, 'ClockOffsetUSec': 9000000000");
                findings = ald_findings_compute(store, FINDINGS_CONTEXT);
                g_assert_cmpuint(findings->len, ==, 1);
                finding = findings->pdata[0];
                g_assert_cmpstr(finding->id, ==, cases[i].id);
        }
}

static void test_unknown_nodes_are_one_finding(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char remedy[] =
                "Check alidade-clusterd on this machine: \"systemctl status alidade-clusterd\".";

        put_presence(store, 2, "unknown", "");
        findings_check(store, "nodes-unknown", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "Whether two is online has been unknown since the cluster service of this machine stopped.",
                remedy);
        put_presence(store, 3, "unknown", "");
        findings_check(store, "nodes-unknown", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2, 3),
                "Whether two and three are online has been unknown since the cluster service of this machine "
                "stopped.",
                remedy);
}

static void test_duplicate_node_id(void)
{
        const char *const remedy =
                "On the copy, remove /etc/machine-id, run systemd-machine-id-setup, reboot "
                "and join the cluster "
                "again; then restart alidade-clusterd on both.";
        g_autoptr(AldStore) store = findings_named_store();

        put_presence(store, 2, "duplicate", "");
        findings_check(store, "duplicate-node-id", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(2),
                "Two machines use the node id of two; neither is shown with its current values.", remedy);
        put_presence(store, 2, "online", "");
        put_presence(store, 1, "duplicate", "");
        findings_check(store, "duplicate-node-id", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(1),
                "Two machines use the node id of one; neither is shown with its current values.", remedy);
}

static void test_clock_skew(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_presence(store, 1, "online", ", 'ClockOffsetUSec': 9000000"); /* its own is none */
        put_presence(store, 2, "online", ", 'ClockOffsetUSec': 5000000");
        put_presence(store, 3, "online", ", 'ClockOffsetUSec': -5000000");
        g_assert_cmpuint(findings_count_now(store, "clock-skew"), ==, 0);
        put_presence(store, 2, "stale", ", 'ClockOffsetUSec': 7200000000");
        findings_check(store, "clock-skew", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "The clock of two is 2 h ahead of the clock of one.",
                "Let a time service such as systemd-timesyncd or chrony set the clock of two.");
        put_presence(store, 2, "online", ", 'ClockOffsetUSec': -5000001");
        findings_check(store, "clock-skew", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "The clock of two is 5.00 s behind the clock of one.",
                "Let a time service such as systemd-timesyncd or chrony set the clock of two.");
        put_presence(store, 2, "offline", ", 'ClockOffsetUSec': -5000001");
        g_assert_cmpuint(findings_count_now(store, "clock-skew"), ==, 0);
        put_presence(store, 2, "online", "");
        g_assert_cmpuint(findings_count_now(store, "clock-skew"), ==, 0);
}

/* One wrong clock is one finding, even where it is that of this node. */
static void test_own_clock_is_wrong(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_presence(store, 2, "online", ", 'ClockOffsetUSec': -8000000");
        put_presence(store, 3, "online", ", 'ClockOffsetUSec': -9000000");
        findings_check(store, "clock-skew", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1),
                "The clock of one is 8.00 s ahead of the clocks of most nodes.",
                "Let a time service such as systemd-timesyncd or chrony set the clock of one.");
        /* It has company now, but no majority. */
        put_presence(store, 4, "online", ", 'ClockOffsetUSec': -7000000");
        put_presence(store, 5, "online", ", 'ClockOffsetUSec': 1");
        g_assert_cmpuint(findings_count_now(store, "clock-skew"), ==, 2);
}

static void test_clocks_without_a_majority(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_presence(store, 2, "online", ", 'ClockOffsetUSec': -7200000000");
        findings_check(store, "clock-skew", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1, 2),
                "The clocks of one and two differ by 2 h; which of them is right is not known.",
                "Let a time service such as systemd-timesyncd or chrony set the clocks of one and two.");
        put_presence(store, 3, "online", ", 'ClockOffsetUSec': 7200000000");
        g_assert_cmpuint(findings_count_now(store, "clock-skew"), ==, 2);
        /* A third that agrees with either decides. */
        put_presence(store, 3, "online", ", 'ClockOffsetUSec': -7201000000");
        findings_check(store, "clock-skew", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1),
                "The clock of one is 2 h ahead of the clocks of most nodes.",
                "Let a time service such as systemd-timesyncd or chrony set the clock of one.");
        put_presence(store, 3, "online", ", 'ClockOffsetUSec': 1000000");
        findings_check(store, "clock-skew", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "The clock of two is 2 h behind the clock of one.",
                "Let a time service such as systemd-timesyncd or chrony set the clock of two.");
}

static void test_field_absent(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        static const char reason[] = "{'AbsentReasons': ['PowerMicroWatts: no right to read RAPL']}";

        put(store, 2, ALD_KIND_SYSTEM, reason);
        put(store, 3, ALD_KIND_SYSTEM, reason);
        findings_check(store, "field-absent", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2, 3),
                "PowerMicroWatts of two and three is unknown: no right to read RAPL.", NULL);
        put(store, 3, ALD_KIND_SYSTEM, "{}");
        put(store, 2, ALD_KIND_SYSTEM, "{'AbsentReasons': ['nobody knows']}");
        findings_check(store, "field-absent", ALD_FINDING_ROW_SEVERITY_NOTICE, NODES(2),
                "A value of two is unknown: nobody knows.", NULL);
}

static void test_order(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        g_autoptr(GPtrArray) findings = NULL;
        static const char *const ids[] = { "disk-nearly-full", "disk-nearly-full", "disk-nearly-full",
                "disk-nearly-full", "memory-pressure", "friendly-name-shared" };
        static const char *const words[] = { "/ on three", "/srv on three", "/ on two", "/ on 00000005",
                "All tasks on two", "2 nodes share the name" };

        put(store, 5, ALD_KIND_DISK, "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 20}]}");
        put(store, 3, ALD_KIND_DISK,
                "{'Paths': [{'Id': '/srv', 'TotalBytes': 1000, 'AvailableBytes': 0},"
                " {'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 0}]}");
        put(store, 2, ALD_KIND_DISK, "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 20}]}");
        put(store, 2, ALD_KIND_MEMORY, "{'PressureFull10': 50}");
        findings_name_node(store, 6, "six");
        findings_name_node(store, 7, "six");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, G_N_ELEMENTS(ids));
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *finding = findings->pdata[i];

                g_assert_cmpstr(finding->id, ==, ids[i]);
                g_assert_true(g_str_has_prefix(finding->text, words[i]));
        }
}

/* A reader can tell which node's word a finding is. */
static void test_reporter(void)
{
        static const struct {
                const char *id;
                unsigned reporter; /* 0: none */
        } cases[] = {
                { "disk-nearly-full", 2 },
                { "link-probe-failing", 3 },
                { "field-absent", 3 },
                { "friendly-name-shared", 0 },
                { "node-offline", 0 },
        };
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) findings = NULL;

        put(store, 2, ALD_KIND_DISK, "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 20}]}");
        put(store, 3, ALD_KIND_SYSTEM, "{'AbsentReasons': ['LoadAverage1: no such file']}");
        state_put_link(store, ALD_KIND_LINK_SOCKET, 3, 2, 1, "{'FailedUSec': 6, 'Failure': 'no answer'}");
        findings_name_node(store, 6, "six");
        findings_name_node(store, 7, "six");
        put_presence(store, 8, "offline", "");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const AldFindingRow *row = findings_find(findings, cases[i].id, 0);
                g_autofree char *reporter = cases[i].reporter ? state_id(cases[i].reporter) : NULL;

                g_assert_nonnull(row);
                g_assert_cmpstr(row->reporter, ==, reporter);
        }
        findings_check_words(findings);
}

/* However many there are, their number is bounded, and nothing is hidden in silence. */
static void test_limit(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) findings = NULL;
        const AldFindingRow *last;

        for (unsigned node = 2; node < 2 + ALD_FINDINGS_PER_ID + 50; node++)
                put(store, node, ALD_KIND_MEMORY, "{'PressureFull10': 50}");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, ALD_FINDINGS_PER_ID + 1);
        last = findings->pdata[findings->len - 1];
        g_assert_cmpstr(last->id, ==, "memory-pressure");
        g_assert_cmpstr(last->text, ==, "50 more memory-pressure findings are left out.");
        g_assert_null(last->nodes);
        g_assert_cmpuint(last->left_out, ==, 50);
        g_assert_cmpstr(last->severity, ==, ((const AldFindingRow *) findings->pdata[0])->severity);
        findings_check_words(findings);
}

/* Each severity of an id is counted for itself, and what is worse stands before what is not. */
static void test_limit_counts_by_severity(void)
{
        static const struct {
                guint at;
                const char *severity;
                uint64_t left_out;
        } counted[] = {
                { ALD_FINDINGS_PER_ID, "error", 7 },
                { 2 * ALD_FINDINGS_PER_ID + 1, "warning", 5 },
        };
        const unsigned n_full = ALD_FINDINGS_PER_ID + 7, n_nearly = ALD_FINDINGS_PER_ID + 5;
        g_autoptr(AldStore) store = state_make_of(1000, 1);
        g_autoptr(GPtrArray) findings = NULL;

        for (unsigned i = 0; i < n_full + n_nearly; i++)
                put(store, i + 1, ALD_KIND_DISK,
                        i < n_full ? "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 0}]}"
                                   : "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 20}]}");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, 2 * (ALD_FINDINGS_PER_ID + 1));
        for (size_t i = 0; i < G_N_ELEMENTS(counted); i++) {
                const AldFindingRow *row = findings->pdata[counted[i].at];

                g_assert_cmpstr(row->id, ==, "disk-nearly-full");
                g_assert_cmpstr(row->severity, ==, counted[i].severity);
                g_assert_cmpuint(row->left_out, ==, counted[i].left_out);
        }
}

#define LAST 1000u

/* What is severe, or about this node, is not lost among the rest, wherever its id is in their order. */
static void test_limit_hides_nothing_worse(void)
{
        static const char nearly[] = "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 20}]}";
        static const char full[] = "{'Paths': [{'Id': '/', 'TotalBytes': 1000, 'AvailableBytes': 0}]}";
        g_autoptr(AldStore) store = state_make_of(LAST, 1);
        g_autoptr(GPtrArray) findings = NULL;
        g_autofree char *own = state_id(LAST), *worse = state_id(LAST - 1);
        const AldFindingRow *last;
        guint n_own = 0;

        for (unsigned node = 1; node <= ALD_FINDINGS_PER_ID + 50; node++)
                put(store, node, ALD_KIND_DISK, nearly);
        put(store, LAST - 1, ALD_KIND_DISK, full);
        put(store, LAST, ALD_KIND_DISK, nearly);
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, ALD_FINDINGS_PER_ID + 3);
        g_assert_cmpstr(((const AldFindingRow *) findings->pdata[0])->nodes[0], ==, worse);
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                n_own += g_strcmp0(row->nodes ? row->nodes[0] : NULL, own) == 0;
        }
        g_assert_cmpuint(n_own, ==, 1);
        last = findings->pdata[findings->len - 1];
        g_assert_cmpuint(last->left_out, ==, 50);
}

#define MANY_NODES 600u
#define MANY_REASONS 30u

/* Of findings about very many nodes, only as many are reported as can be sent, and no other is lost. */
static void test_room(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) findings = NULL;
        g_autoptr(GString) reasons = g_string_new("{'AbsentReasons': [");
        g_autofree char *name = g_strnfill(1000, 'n');
        const AldFindingRow *last;
        size_t bytes = 0;
        guint n;

        for (unsigned i = 0; i < MANY_REASONS; i++)
                g_string_append_printf(reasons, "%s'Field: reason %u'", i > 0 ? ", " : "", i);
        g_string_append(reasons, "]}");
        for (unsigned node = 2; node < 2 + MANY_NODES; node++) {
                findings_name_node(store, node, name);
                state_put(store, node, ALD_KIND_SYSTEM, reasons->str);
        }
        put(store, 2, ALD_KIND_MEMORY, "{'PressureFull10': 50}");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        for (guint i = 0; i < findings->len; i++)
                bytes += ald_struct_wire_size(&ald_finding_row_struct, findings->pdata[i]);
        g_assert_cmpuint(bytes, <, ALD_FINDINGS_BYTES_MAX + 1024);
        g_assert_cmpuint(findings_count(findings, "memory-pressure"), ==, 1);
        n = findings_count(findings, "field-absent");
        g_assert_cmpuint(n, >, 10);
        g_assert_cmpuint(n, <, MANY_REASONS);
        last = findings_find(findings, "field-absent", n - 1);
        g_assert_cmpuint(last->left_out, ==, MANY_REASONS + 1 - n);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings/nothing-wrong", test_nothing_wrong);
        g_test_add_func("/findings/os-versions-differ", test_os_versions_differ);
        g_test_add_func("/findings/versions-differ", test_versions_differ);
        g_test_add_func("/findings/many-operating-systems", test_many_operating_systems);
        g_test_add_func("/findings/friendly-name-shared", test_friendly_name_shared);
        g_test_add_func("/findings/memory-pressure", test_memory_pressure);
        g_test_add_func("/findings/swap-nearly-full", test_swap_nearly_full);
        g_test_add_func("/findings/changes-that-let-time-pass", test_changes_that_let_time_pass);
        g_test_add_func("/findings/disk-nearly-full", test_disk_nearly_full);
        g_test_add_func("/findings/device-without-driver", test_device_without_driver);
        g_test_add_func("/findings/opencl-missing", test_opencl_missing);
        g_test_add_func("/findings/lanes", test_lanes);
        g_test_add_func("/findings/drivers-differ", test_drivers_differ);
        g_test_add_func("/findings/device-never-free", test_device_never_free);
        g_test_add_func("/findings/interface-slow", test_interface_slow);
        g_test_add_func("/findings/link-below-negotiated", test_link_below_negotiated);
        g_test_add_func("/findings/slower-end-is-no-shortfall", test_slower_end_is_no_shortfall);
        g_test_add_func("/findings/radio-is-judged-mildly", test_radio_is_judged_mildly);
        g_test_add_func("/findings/wide-interval", test_wide_interval_is_no_shortfall);
        g_test_add_func("/findings/disturbed-row", test_disturbed_row_finds_nothing);
        g_test_add_func("/findings/link-unsteady", test_link_unsteady);
        g_test_add_func("/findings/link-partly-measured", test_link_partly_measured);
        g_test_add_func("/findings/rdma-below-negotiated", test_rdma_below_negotiated);
        g_test_add_func("/findings/link-probe-failing", test_link_probe_failing);
        g_test_add_func("/findings/another-path-works", test_another_path_works);
        g_test_add_func("/findings/newest-success-of-the-other-end", test_newest_success_of_the_other_end);
        g_test_add_func("/findings/mutual-failed-links", test_mutual_failed_links);
        g_test_add_func("/findings/the-other-end-measures", test_the_other_end_measures);
        g_test_add_func("/findings/closed-ports", test_closed_ports);
        g_test_add_func("/findings/lost-full-packets", test_lost_full_packets);
        g_test_add_func("/findings/link-asymmetric", test_link_asymmetric);
        g_test_add_func("/findings/link-rate-changed", test_link_rate_changed);
        g_test_add_func("/findings/link-of-unknown-path", test_link_of_unknown_path);
        g_test_add_func("/findings/bridge-loop", test_bridge_loop);
        g_test_add_func("/findings/loose-ends-are-not-of-the-loop", test_loose_ends_are_not_of_the_loop);
        g_test_add_func("/findings/two-cables-are-a-loop", test_two_cables_are_a_loop);
        g_test_add_func("/findings/each-loop-is-told", test_each_loop_is_told);
        g_test_add_func("/findings/random-cables", test_random_cables);
        g_test_add_func("/findings/node-offline", test_node_offline);
        g_test_add_func("/findings/node-cut-off", test_node_cut_off);
        g_test_add_func(
                "/findings/nothing-else-of-nodes-that-are-gone", test_nothing_else_of_nodes_that_are_gone);
        g_test_add_func("/findings/unknown-nodes-are-one-finding", test_unknown_nodes_are_one_finding);
        g_test_add_func("/findings/duplicate-node-id", test_duplicate_node_id);
        g_test_add_func("/findings/clock-skew", test_clock_skew);
        g_test_add_func("/findings/own-clock-is-wrong", test_own_clock_is_wrong);
        g_test_add_func("/findings/clocks-without-a-majority", test_clocks_without_a_majority);
        g_test_add_func("/findings/field-absent", test_field_absent);
        g_test_add_func("/findings/order", test_order);
        g_test_add_func("/findings/reporter", test_reporter);
        g_test_add_func("/findings/limit", test_limit);
        g_test_add_func("/findings/limit-counts-by-severity", test_limit_counts_by_severity);
        g_test_add_func("/findings/limit-hides-nothing-worse", test_limit_hides_nothing_worse);
        g_test_add_func("/findings/room", test_room);
        return g_test_run();
}
