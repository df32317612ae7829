/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of a device to the host, by what the kernel shows of its links. */
#include "record/field.h"
#include "services/telemetry/gpu/gpu-pcie.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define SEC INT64_C(1000000)
#define NOW (INT64_C(1000) * SEC)
#define PORT "0000:00:01.0"
#define CARD "0000:01:00.0"
#define ONE_PORT "pci0000:00/" PORT "/" CARD
#define NONE ALD_ABSENT_UINT64
#define GT UINT64_C(1000000000)

/* A card with its own switch, as AMD's. */
#define UPPER "0000:01:00.0"
#define LOWER "0000:02:00.0"
#define INNER "0000:03:00.0"
#define WITH_SWITCH "pci0000:00/" PORT "/" UPPER "/" LOWER "/" INNER

typedef struct Way {
        FakeRoot *root;
        AldGpuPcie *pcie;
        int64_t now;
} Way;

static Way *begin(const char *way)
{
        Way *made = g_new0(Way, 1);

        log_count_reset();
        made->root = fake_root_new();
        made->now = NOW;
        gpu_root_way(made->root, way);
        return made;
}

static void start(Way *way, const char *device, const char *driver)
{
        way->pcie = ald_gpu_pcie_new(way->root->fd, device, driver);
        g_assert_nonnull(way->pcie);
}

static void end(Way *way)
{
        ald_gpu_pcie_free(way->pcie);
        fake_root_free(way->root);
        g_free(way);
}

/* So many samples, one each second. Returns whether there was news. */
static bool sample(Way *way, unsigned n, double usage)
{
        bool news = false;

        for (; n > 0; n--, way->now += SEC)
                news = ald_gpu_pcie_sample(way->pcie, true, usage, way->now) || news;
        return news;
}

static bool use(Way *way)
{
        return sample(way, 6, 90);
}

static AldDeviceJoin row_of(const Way *way)
{
        AldDeviceJoin row = ALD_DEVICE_JOIN_INIT;

        g_assert_true(ald_gpu_pcie_to_host(way->pcie, &row));
        return row;
}

static bool has_row(const Way *way)
{
        AldDeviceJoin row = ALD_DEVICE_JOIN_INIT;

        return ald_gpu_pcie_to_host(way->pcie, &row);
}

static void test_rates(void)
{
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("2.5 GT/s PCIe"), ==, 5 * GT / 2);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("5.0 GT/s PCIe"), ==, 5 * GT);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("8 GT/s"), ==, 8 * GT);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("16.0 GT/s PCIe"), ==, 16 * GT);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("32.0 GT/s PCIe"), ==, 32 * GT);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("64.0 GT/s PCIe"), ==, 64 * GT);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("Unknown"), ==, NONE);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("Unknown speed"), ==, NONE);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("16.0"), ==, NONE);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("17.0 GT/s PCIe"), ==, NONE);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("1e300 GT/s"), ==, NONE);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate("nan GT/s"), ==, NONE);
        g_assert_cmpuint(ald_gpu_pcie_parse_rate(""), ==, NONE);
}

static void test_bandwidths(void)
{
        g_assert_cmpuint(ald_gpu_pcie_bandwidth(1, 5 * GT / 2), ==, 2 * GT);
        g_assert_cmpuint(ald_gpu_pcie_bandwidth(16, 5 * GT), ==, 64 * GT);
        g_assert_cmpuint(ald_gpu_pcie_bandwidth(16, 8 * GT), ==, UINT64_C(126030769230));
        g_assert_cmpuint(ald_gpu_pcie_bandwidth(16, 32 * GT), ==, UINT64_C(504123076923));
        g_assert_cmpuint(ald_gpu_pcie_bandwidth(16, 64 * GT), ==, 968 * GT);
}

/* A desktop card in a slot with a quarter of its lanes and half of its rate. */
static void test_narrow_slot(void)
{
        Way *way = begin(ONE_PORT);
        AldDeviceJoin row;

        gpu_root_link(way->root, PORT, "4", "8.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "4", "8.0 GT/s PCIe");
        start(way, CARD, "nvidia");
        g_assert_true(sample(way, 1, 0));
        row = row_of(way);
        g_assert_cmpuint(row.lanes, ==, 4);
        g_assert_cmpuint(row.lanes_max, ==, 16);
        g_assert_cmpuint(row.slot_lanes, ==, 4);
        g_assert_cmpuint(row.transfers_per_second_max, ==, 8 * GT);
        g_assert_cmpuint(row.transfers_per_second, ==, NONE);
        g_assert_cmpuint(row.bits_per_second, ==, ald_gpu_pcie_bandwidth(4, 8 * GT));
        g_assert_false(sample(way, 10, 0));
        end(way);
}

/* The link within the card has all lanes, always; the slot has not. */
static void test_inner_switch(void)
{
        Way *way = begin(WITH_SWITCH);
        AldDeviceJoin row;

        gpu_root_link(way->root, PORT, "8", "16.0 GT/s PCIe", NULL, "2.5 GT/s PCIe");
        gpu_root_link(way->root, UPPER, "16", "16.0 GT/s PCIe", "8", "2.5 GT/s PCIe");
        gpu_root_link(way->root, LOWER, "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, INNER, "16", "16.0 GT/s PCIe", NULL, NULL);
        start(way, INNER, "amdgpu");
        (void) use(way);
        row = row_of(way);
        g_assert_cmpuint(row.lanes, ==, 8);
        g_assert_cmpuint(row.lanes_max, ==, 16);
        g_assert_cmpuint(row.slot_lanes, ==, 8);
        g_assert_cmpuint(row.transfers_per_second, ==, 5 * GT / 2);
        g_assert_cmpuint(row.bits_per_second, ==, ald_gpu_pcie_bandwidth(8, 16 * GT));

        /* In a slot with all lanes both carry the same, and the outer one is shown. */
        gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", NULL, "8.0 GT/s PCIe");
        gpu_root_link(way->root, UPPER, "16", "16.0 GT/s PCIe", NULL, "8.0 GT/s PCIe");
        ald_gpu_pcie_free(way->pcie);
        start(way, INNER, "amdgpu");
        (void) use(way);
        g_assert_cmpuint(row_of(way).transfers_per_second, ==, 8 * GT);
        end(way);
}

/* Below a switch of the machine, the link of the device itself may be the worse one. */
static void test_outer_switch(void)
{
        Way *way = begin(WITH_SWITCH);

        gpu_root_link(way->root, PORT, "16", "32.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, UPPER, "16", "32.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, LOWER, "16", "32.0 GT/s PCIe", "4", "32.0 GT/s PCIe");
        gpu_root_link(way->root, INNER, "16", "32.0 GT/s PCIe", "4", "32.0 GT/s PCIe");
        start(way, INNER, "nvidia");
        (void) sample(way, 1, 0);
        g_assert_cmpuint(row_of(way).lanes, ==, 16);
        g_assert_true(use(way));
        g_assert_cmpuint(row_of(way).lanes, ==, 4);
        g_assert_cmpuint(row_of(way).slot_lanes, ==, 16);
        g_assert_cmpuint(row_of(way).bits_per_second, ==, ald_gpu_pcie_bandwidth(16, 32 * GT));
        end(way);
}

/* Idle at the lowest rate and width. What counts is what is there when it works, for 5 s in a row. */
static void test_idle(void)
{
        Way *way = begin(ONE_PORT);

        gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", "1", "2.5 GT/s PCIe");
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "1", "2.5 GT/s PCIe");
        start(way, CARD, "amdgpu");
        g_assert_true(sample(way, 1, 0));
        g_assert_cmpuint(row_of(way).lanes, ==, NONE);
        g_assert_cmpuint(row_of(way).bits_per_second, ==, ald_gpu_pcie_bandwidth(16, 16 * GT));

        g_assert_false(sample(way, 5, 100));
        g_assert_false(sample(way, 1, 79));
        g_assert_false(sample(way, 5, 100));
        g_assert_false(sample(way, 1, ALD_ABSENT_DOUBLE));
        g_assert_false(sample(way, 5, 80));
        g_assert_false(ald_gpu_pcie_sample(way->pcie, false, 100, way->now));
        g_assert_false(sample(way, 5, 80));
        g_assert_cmpuint(row_of(way).transfers_per_second, ==, NONE);
        g_assert_true(sample(way, 1, 80));
        g_assert_cmpuint(row_of(way).transfers_per_second, ==, 5 * GT / 2);
        g_assert_cmpuint(row_of(way).lanes, ==, 1);

        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "8", "16.0 GT/s PCIe");
        g_assert_false(sample(way, 4, 80));
        g_assert_true(sample(way, 1, 80));
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "1", "2.5 GT/s PCIe");
        g_assert_false(sample(way, 10, 80));
        g_assert_false(sample(way, 10, 0));
        g_assert_cmpuint(row_of(way).transfers_per_second, ==, 16 * GT);
        g_assert_cmpuint(row_of(way).lanes, ==, 8);
        g_assert_cmpuint(log_count(""), ==, 0);
        end(way);
}

/* A link that was retrained to less shows once no reading of more is recent. */
static void test_gets_worse(void)
{
        Way *way = begin(ONE_PORT);
        unsigned readings = 0;

        gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe");
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe");
        start(way, CARD, "xe");
        g_assert_true(use(way));
        g_assert_cmpuint(row_of(way).lanes, ==, 16);
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "4", "8.0 GT/s PCIe");
        while (row_of(way).lanes == 16 || row_of(way).transfers_per_second == 16 * GT) {
                g_assert_cmpuint(readings++, <, 1000);
                (void) sample(way, 1, 100);
        }
        g_assert_cmpuint(readings, >=, 5 * 60);
        g_assert_cmpuint(row_of(way).lanes, ==, 4);
        g_assert_cmpuint(row_of(way).transfers_per_second, ==, 8 * GT);
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe");
        g_assert_true(use(way));
        g_assert_cmpuint(row_of(way).lanes, ==, 16);
        end(way);
}

/* Of a driver that narrows no link, a narrow one has lost its lanes. */
static void test_lost_lanes(void)
{
        Way *way = begin(ONE_PORT);

        gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", "8", NULL);
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "8", NULL);
        start(way, CARD, "xe");
        g_assert_true(sample(way, 1, ALD_ABSENT_DOUBLE));
        g_assert_cmpuint(row_of(way).lanes, ==, 8);
        end(way);
}

/* The reading of a file that is broken or lies costs its field, and one line where it makes no sense. */
static void test_broken(void)
{
        static const struct {
                const char *rate, *lanes;
                unsigned n_lines;
        } cases[] = {
                { "Unknown", "63", 0 },
                { "Unknown speed", "255", 0 },
                { "32.0 GT/s PCIe", "32", 0 },
                { "16.0 MT/s", "0", 0 },
                { "", "", 2 },
                { "fast", "-1", 2 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Way *way = begin(ONE_PORT);

                gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", NULL, NULL);
                gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", cases[i].lanes, cases[i].rate);
                start(way, CARD, "xe");
                (void) sample(way, 1, 0);
                g_assert_false(sample(way, 20, 100));
                g_assert_cmpuint(row_of(way).lanes, ==, NONE);
                g_assert_cmpuint(row_of(way).transfers_per_second, ==, NONE);
                g_assert_cmpuint(row_of(way).transfers_per_second_max, ==, 16 * GT);
                g_assert_cmpuint(log_count(""), ==, cases[i].n_lines);
                end(way);
        }
}

/* Without one of the ends nobody knows what the link carries. */
static void test_broken_end(void)
{
        static const char *const wrong[] = { "0", "63", "255", "33", "x" };

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                Way *way = begin(ONE_PORT);

                gpu_root_link(way->root, PORT, wrong[i], "16.0 GT/s PCIe", "4", NULL);
                gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", "4", NULL);
                start(way, CARD, "xe");
                (void) use(way);
                g_assert_cmpuint(row_of(way).lanes_max, ==, 16);
                g_assert_cmpuint(row_of(way).slot_lanes, ==, NONE);
                g_assert_cmpuint(row_of(way).lanes, ==, NONE);
                g_assert_cmpuint(row_of(way).bits_per_second, ==, NONE);
                g_assert_cmpuint(row_of(way).transfers_per_second, ==, 16 * GT);
                g_assert_cmpuint(log_count(""), ==, *wrong[i] == 'x');
                end(way);
        }
}

/* Of several parts, one that nobody knows may be the slowest. */
static void test_unknown_part(void)
{
        Way *way = begin(WITH_SWITCH);

        gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, UPPER, "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, LOWER, "16", "Unknown", NULL, NULL);
        gpu_root_link(way->root, INNER, "8", "16.0 GT/s PCIe", NULL, NULL);
        start(way, INNER, "xe");
        (void) use(way);
        g_assert_cmpuint(row_of(way).lanes_max, ==, 8);
        g_assert_cmpuint(row_of(way).transfers_per_second_max, ==, NONE);
        g_assert_cmpuint(row_of(way).bits_per_second, ==, NONE);
        end(way);
}

/* A device that is asleep is not read, and is known once it was awake. */
static void test_asleep(void)
{
        Way *way = begin(ONE_PORT);

        gpu_root_link(way->root, PORT, "255", "Unknown", NULL, NULL);
        gpu_root_link(way->root, CARD, "255", "Unknown", NULL, NULL);
        start(way, CARD, "amdgpu");
        g_assert_false(ald_gpu_pcie_sample(way->pcie, false, ALD_ABSENT_DOUBLE, way->now));
        g_assert_false(has_row(way));
        gpu_root_link(way->root, PORT, "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", NULL, NULL);
        g_assert_true(sample(way, 1, 0));
        gpu_root_link(way->root, CARD, "255", "Unknown", NULL, NULL);
        g_assert_false(ald_gpu_pcie_sample(way->pcie, false, ALD_ABSENT_DOUBLE, way->now));
        g_assert_cmpuint(row_of(way).lanes, ==, 16);
        end(way);
}

/* A virtual machine may show no port. What is integrated has no lanes either. */
static void test_no_port(void)
{
        Way *way = begin("pci0000:00/" PORT);

        gpu_root_link(way->root, PORT, "16", "32.0 GT/s PCIe", NULL, NULL);
        start(way, PORT, "nvidia");
        (void) sample(way, 1, 0);
        g_assert_cmpuint(row_of(way).lanes_max, ==, 16);
        g_assert_cmpuint(row_of(way).slot_lanes, ==, NONE);
        g_assert_cmpuint(row_of(way).transfers_per_second_max, ==, NONE);
        g_assert_cmpuint(row_of(way).bits_per_second, ==, NONE);
        end(way);

        way = begin("pci0000:00/" PORT);
        gpu_root_link(way->root, PORT, "255", "Unknown", "0", NULL);
        start(way, PORT, "i915");
        g_assert_false(use(way));
        g_assert_false(has_row(way));
        end(way);

        way = begin("pci0000:00/" PORT);
        start(way, PORT, "i915");
        g_assert_false(use(way));
        g_assert_false(has_row(way));
        g_assert_cmpuint(log_count(""), ==, 0);
        end(way);
}

/* What Thunderbolt's ports show is not what they carry. */
static void test_thunderbolt(void)
{
        Way *way = begin(ONE_PORT);

        gpu_root_link(way->root, PORT, "4", "2.5 GT/s PCIe", NULL, NULL);
        gpu_root_link(way->root, CARD, "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_set(way->root, CARD, "removable", "removable\n");
        start(way, CARD, "amdgpu");
        (void) use(way);
        g_assert_false(has_row(way));
        end(way);
}

static AldGpuPcieCommon common(const char *a, const char *b)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *id_a = g_path_get_basename(a), *id_b = g_path_get_basename(b);
        AldGpuPcie *of_a, *of_b;
        AldGpuPcieCommon found;

        gpu_root_way(root, a);
        gpu_root_way(root, b);
        of_a = ald_gpu_pcie_new(root->fd, id_a, NULL);
        of_b = ald_gpu_pcie_new(root->fd, id_b, NULL);
        g_assert_false(ald_gpu_pcie_same(of_a, of_b));
        g_assert_true(ald_gpu_pcie_same(of_a, of_a));
        found = ald_gpu_pcie_common(of_a, of_b);
        g_assert_cmpint(ald_gpu_pcie_common(of_b, of_a), ==, found);
        ald_gpu_pcie_free(of_a);
        ald_gpu_pcie_free(of_b);
        return found;
}

static void test_common(void)
{
        static const char switched[] = "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:%02x.0/0000:%02x:00.0";
        g_autofree char *first = g_strdup_printf(switched, 1, 3), *second = g_strdup_printf(switched, 2, 4);

        g_assert_cmpint(common(first, second), ==, ALD_GPU_PCIE_SWITCH);
        g_assert_cmpint(common(first, "pci0000:00/0000:00:02.0/0000:08:00.0"), ==, ALD_GPU_PCIE_ROOT);
        g_assert_cmpint(common(first, "pci0000:00/0000:00:02.0"), ==, ALD_GPU_PCIE_ROOT);
        g_assert_cmpint(common(first, "pci0000:80/0000:80:01.0/0000:81:00.0"), ==, ALD_GPU_PCIE_APART);
        g_assert_cmpint(
                common("pci0000:00/0000:00:01.0/0000:01:00.0", "pci0000:00/0000:00:01.0/0000:01:00.1"), ==,
                ALD_GPU_PCIE_PORT);
        g_assert_cmpint(common("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0",
                                "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.1"),
                ==, ALD_GPU_PCIE_PORT);
        /* Behind a VMD. */
        g_assert_cmpint(common("pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:01.0/10000:e1:00.0",
                                "pci0000:00/0000:00:01.0/0000:01:00.0"),
                ==, ALD_GPU_PCIE_APART);
}

static void test_no_way(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        fake_root_link(root, "sys/bus/pci/devices/" CARD, "../../../devices/elsewhere/" CARD);
        g_assert_null(ald_gpu_pcie_new(root->fd, CARD, NULL));
        fake_root_remove(root, "sys/bus/pci/devices/" CARD);
        fake_root_link(root, "sys/bus/pci/devices/" CARD, "../../../devices/pci0000:00/else/" CARD);
        g_assert_null(ald_gpu_pcie_new(root->fd, CARD, NULL));
        fake_root_mkdir(root, "sys/bus/pci/devices/" INNER);
        g_assert_null(ald_gpu_pcie_new(root->fd, INNER, NULL));
        g_assert_null(ald_gpu_pcie_new(root->fd, "0000:09:00.0", NULL));
        g_assert_null(ald_gpu_pcie_new(root->fd, "17000000.gpu", NULL));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/gpu-pcie/rates", test_rates);
        g_test_add_func("/gpu-pcie/bandwidths", test_bandwidths);
        g_test_add_func("/gpu-pcie/narrow-slot", test_narrow_slot);
        g_test_add_func("/gpu-pcie/inner-switch", test_inner_switch);
        g_test_add_func("/gpu-pcie/outer-switch", test_outer_switch);
        g_test_add_func("/gpu-pcie/idle", test_idle);
        g_test_add_func("/gpu-pcie/gets-worse", test_gets_worse);
        g_test_add_func("/gpu-pcie/lost-lanes", test_lost_lanes);
        g_test_add_func("/gpu-pcie/broken", test_broken);
        g_test_add_func("/gpu-pcie/broken-end", test_broken_end);
        g_test_add_func("/gpu-pcie/unknown-part", test_unknown_part);
        g_test_add_func("/gpu-pcie/asleep", test_asleep);
        g_test_add_func("/gpu-pcie/no-port", test_no_port);
        g_test_add_func("/gpu-pcie/thunderbolt", test_thunderbolt);
        g_test_add_func("/gpu-pcie/common", test_common);
        g_test_add_func("/gpu-pcie/no-way", test_no_way);
        return g_test_run();
}
