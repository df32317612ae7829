/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which devices there are, as far as sysfs tells. */
#include "services/telemetry/gpu/gpu-cpu.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-pci.h"
#include "services/telemetry/gpu/gpu-platform.h"
#include "tests/unit/gpu-roots.h"

#define GIB (UINT64_C(1024) * 1024 * 1024)

static GPtrArray *scan(FakeRoot *root)
{
        GPtrArray *gpus = ald_gpu_list_new();

        ald_gpu_pci_scan(root->fd, gpus);
        ald_gpu_platform_scan(root->fd, gpus);
        for (guint i = 0; i < gpus->len; i++)
                ((AldGpu *) gpus->pdata[i])->host_memory = ald_gpu_host_memory(root->fd);
        return gpus;
}

static AldBackend row(const GPtrArray *gpus, const char *id)
{
        const AldGpu *gpu = ald_gpu_list_find(gpus, id);
        AldBackend backend;

        g_assert_nonnull(gpu);
        ald_gpu_backend(gpu, &backend);
        return backend;
}

static void test_dual_nvidia(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldBackend gpu;

        gpu_root_dual_nvidia(root);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 2);
        gpu = row(gpus, "0000:01:00.0");
        g_assert_cmpstr(gpu.name, ==, "NVIDIA GeForce RTX 4090");
        g_assert_cmpstr(gpu.vendor, ==, "NVIDIA");
        g_assert_cmpstr(gpu.class, ==, "gpu");
        g_assert_cmpstr(gpu.driver, ==, "nvidia");
        g_assert_cmpstr(gpu.driver_version, ==, "535.183.01");
        /* NVML alone tells these. */
        g_assert_cmpuint(gpu.memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(gpu.unified, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpstr(row(gpus, "0000:02:00.0").name, ==, "NVIDIA RTX A5000");
        g_assert_true(((AldGpu *) gpus->pdata[0])->has_nvml);
}

static void test_radeon(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldBackend gpu;

        gpu_root_radeon(root);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        gpu = row(gpus, "0000:03:00.0");
        g_assert_cmpstr(gpu.name, ==, "AMD 1002:744c");
        g_assert_cmpint(gpu.unified, ==, 0);
        g_assert_cmpuint(gpu.memory_total_bytes, ==, 25753026560);
        g_assert_cmpuint(gpu.shared_bytes, ==, 67411128320);
        g_assert_cmpstr(gpu.parent, ==, NULL);
        g_assert_cmpstr(gpu.driver_version, ==, NULL);

        gpu_root_set(root, "0000:03:00.0", "product_name", "AMD Radeon Pro W7900\n");
        g_ptr_array_unref(gpus);
        gpus = scan(root);
        g_assert_cmpstr(row(gpus, "0000:03:00.0").name, ==, "AMD Radeon Pro W7900");
}

static void test_strix_halo(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_strix_halo(root);
        gpus = scan(root);
        g_assert_cmpint(row(gpus, "0000:c5:00.0").unified, ==, 1);
        g_assert_cmpuint(row(gpus, "0000:c5:00.0").memory_total_bytes, ==, 536870912);
        g_assert_cmpuint(row(gpus, "0000:c5:00.0").shared_bytes, ==, 67108864000);
        g_assert_cmpstr(row(gpus, "0000:c5:00.0").class, ==, "gpu");

        /* A large carve-out does not make it a card, and yet is memory of its own. */
        gpu_root_set(root, "0000:c5:00.0", "mem_info_vram_total", "103079215104\n");
        g_ptr_array_unref(gpus);
        gpus = scan(root);
        g_assert_cmpint(row(gpus, "0000:c5:00.0").unified, ==, 1);
        g_assert_cmpuint(row(gpus, "0000:c5:00.0").memory_total_bytes, ==, 96 * GIB);
        g_assert_cmpuint(row(gpus, "0000:c5:00.0").shared_bytes, ==, 67108864000);
}

/* Instinct accelerators have the class of accelerators and no chip that is known by its sensors. */
static void test_instinct(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_pci(root, "0000:05:00.0", "0x120000\n", "0x1002\n", "0x74a0\n", "amdgpu");
        gpu_root_set(root, "0000:05:00.0", "mem_info_vram_total", "137438953472\n");
        gpu_root_set(root, "0000:05:00.0", "mem_info_gtt_total", "137438953472\n");
        gpu_root_pci(root, "0000:06:00.0", "0x120000\n", "0x1002\n", "0x74a1\n", "amdgpu");
        gpu_root_set(root, "0000:06:00.0", "mem_info_vram_total", "206141652992\n");
        gpu_root_set(root, "0000:06:00.0", "hwmon/hwmon1/temp2_input", "40000\n");
        gpus = scan(root);
        g_assert_cmpint(row(gpus, "0000:05:00.0").unified, ==, 1);
        g_assert_cmpuint(row(gpus, "0000:05:00.0").memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row(gpus, "0000:05:00.0").shared_bytes, ==, 128 * GIB);
        g_assert_cmpint(row(gpus, "0000:06:00.0").unified, ==, 0);
        g_assert_cmpstr(row(gpus, "0000:06:00.0").class, ==, "gpu");
}

static void test_intel(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_iris(root);
        gpu_root_arc(root);
        gpu_root_pci(root, "0000:00:0b.0", "0x120000\n", "0x8086\n", "0x7d1d\n", "intel_vpu");
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 3);
        g_assert_cmpint(row(gpus, "0000:00:02.0").unified, ==, 1);
        g_assert_cmpuint(row(gpus, "0000:00:02.0").memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row(gpus, "0000:00:02.0").shared_bytes, ==, UINT64_C(131072000) * 1024);
        g_assert_cmpint(row(gpus, "0000:04:00.0").unified, ==, 0);
        g_assert_cmpuint(row(gpus, "0000:04:00.0").memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row(gpus, "0000:04:00.0").shared_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(row(gpus, "0000:00:0b.0").class, ==, "accelerator");
        g_assert_cmpint(row(gpus, "0000:00:0b.0").unified, ==, 1);
}

/* The driver xe shows the memory of a card at each of its tiles. What OpenCL counts is less, and can be had.
 */
static void test_memory_of_tiles(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL, before = NULL;

        gpu_root_arc(root);
        before = scan(root);
        gpu_root_set(root, "0000:04:00.0", "tile0/physical_vram_size_bytes", "12884901888\n");
        gpu_root_set(root, "0000:04:00.0", "tile1/physical_vram_size_bytes", "4294967296\n");
        gpus = scan(root);
        g_assert_false(ald_gpu_equal(before->pdata[0], gpus->pdata[0]));
        g_assert_cmpuint(row(gpus, "0000:04:00.0").memory_total_bytes, ==, UINT64_C(16) << 30);
        ald_gpu_list_find(gpus, "0000:04:00.0")->opencl.memory_total_bytes = UINT64_C(15) << 30;
        g_assert_cmpuint(row(gpus, "0000:04:00.0").memory_total_bytes, ==, UINT64_C(15) << 30);
        /* Passed through to a virtual machine, a card may have the address of integrated graphics. */
        gpu_root_pci(root, "0000:00:02.0", "0x030000\n", "0x8086\n", "0xe20b\n", "xe");
        gpu_root_set(root, "0000:00:02.0", "tile0/physical_vram_size_bytes", "12884901888\n");
        g_ptr_array_unref(gpus);
        gpus = scan(root);
        g_assert_cmpint(row(gpus, "0000:00:02.0").unified, ==, 0);
}

static void test_gb10(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_gb10(root);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        g_assert_cmpstr(row(gpus, "000f:01:00.0").name, ==, "NVIDIA GB10");
}

/* NVML may state the memory of the host as that of a GPU within a system on chip, which OpenCL knows to be.
 */
static void test_memory_of_the_host(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldGpu *gpu;

        gpu_root_gb10(root);
        gpus = scan(root);
        gpu = gpus->pdata[0];
        gpu->nvml.memory_total_bytes = gpu->opencl.memory_total_bytes = gpu->host_memory;
        gpu->nvml.unified = 0;
        gpu->opencl.unified = 1;
        g_assert_cmpint(row(gpus, gpu->id).unified, ==, 1);
        g_assert_cmpuint(row(gpus, gpu->id).memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row(gpus, gpu->id).shared_bytes, ==, gpu->host_memory);
        /* A card that happens to be as large. */
        gpu->opencl.unified = 0;
        g_assert_cmpint(row(gpus, gpu->id).unified, ==, 0);
        g_assert_cmpuint(row(gpus, gpu->id).memory_total_bytes, ==, gpu->host_memory);
        /* Memory of its own, which the processor can reach as well. */
        gpu->opencl.unified = 1;
        gpu->nvml.memory_total_bytes = gpu->host_memory / 4;
        g_assert_cmpint(row(gpus, gpu->id).unified, ==, 0);
}

static void test_raspberry(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldBackend gpu;

        gpu_root_raspberry(root);
        gpus = scan(root);
        /* The one that only drives screens is none. */
        g_assert_cmpuint(gpus->len, ==, 1);
        gpu = row(gpus, "1002000000.v3d");
        g_assert_cmpstr(gpu.name, ==, "Broadcom 2712-v3d");
        g_assert_cmpstr(gpu.vendor, ==, "Broadcom");
        g_assert_cmpstr(gpu.driver, ==, "v3d");
        g_assert_cmpint(gpu.unified, ==, 1);
        g_assert_cmpuint(gpu.memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(gpu.shared_bytes, ==, UINT64_C(8245000) * 1024);
}

static void test_jetson(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldBackend gpu;

        gpu_root_jetson(root);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        gpu = row(gpus, "17000000.gpu");
        g_assert_cmpstr(gpu.name, ==, "NVIDIA ga10b");
        g_assert_cmpint(gpu.unified, ==, 1);
        g_assert_true(((AldGpu *) gpus->pdata[0])->has_nvml);
}

static void make_platform_device(FakeRoot *root, const char *class, const char *name, const char *id,
        const char *driver, const char *compatible)
{
        g_autofree char *device = g_strdup_printf("sys/devices/platform/%s", id);
        g_autofree char *node = g_strdup_printf("%s/%s/%s/dev", device, class, name);
        g_autofree char *of = g_strdup_printf("%s/of_node/compatible", device);
        g_autofree char *subsystem = g_strdup_printf("%s/subsystem", device);
        g_autofree char *bound = g_strdup_printf("%s/driver", device);
        g_autofree char *to = g_strdup_printf("../../../bus/platform/drivers/%s", driver);
        g_autofree char *link = g_strdup_printf("sys/class/%s/%s/device", class, name);
        g_autofree char *target = g_strdup_printf("../../../devices/platform/%s", id);

        fake_root_write(root, node, "226:0\n");
        if (compatible)
                fake_root_write(root, of, compatible);
        fake_root_link(root, subsystem, "../../../bus/platform");
        if (driver)
                fake_root_link(root, bound, to);
        fake_root_link(root, link, target);
}

/* One with a render node, as makers' kernels have it, and others of the subsystem for them. */
static void test_npus(void)
{
        static const struct {
                const char *class, *id, *driver, *compatible, *shown;
        } cases[] = {
                { "drm", "fdab0000.npu", "RKNPU", "rockchip,rk3588-rknpu", "accelerator" },
                { "drm", "40000000.soc:thing", "maker", "maker,x9-npu-v2", "accelerator" },
                { "drm", "npu@ff100000", "galcore", NULL, "accelerator" },
                { "drm", "fb000000.gpu-panthor", "panthor", "rockchip,rk3588-mali", "gpu" },
                { "drm", "ae00000.display", "msm_dpu", "qcom,adreno-43050a01", "gpu" },
                { "drm", "13000000.mali", "panfrost", "mediatek,mt8195-mali", "gpu" },
                { "accel", "rknn", "rocket", NULL, "accelerator" },
                { "accel", "4b000000.something", "ethosu", "arm,ethos-u65", "accelerator" },
                { "drm", "etnaviv", "etnaviv", NULL, "gpu" },
                /* Each of these has a render node. */
                { "drm", "vgem", NULL, NULL, NULL },
                { "drm", "13800000.display", "nv_platform", "nvidia,tegra234-display", NULL },
                { "drm", "exynos-drm", "exynos-drm", NULL, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                g_autoptr(GPtrArray) gpus = NULL;

                g_test_message("%s", cases[i].id);
                gpu_root_host(root);
                make_platform_device(
                        root, cases[i].class, "card1", cases[i].id, cases[i].driver, cases[i].compatible);
                if (g_str_equal(cases[i].class, "drm")) {
                        g_autofree char *node = g_strdup_printf(
                                "sys/devices/platform/%s/drm/renderD129/dev", cases[i].id);

                        fake_root_write(root, node, "226:129\n");
                }
                gpus = scan(root);
                g_assert_cmpuint(gpus->len, ==, cases[i].shown ? 1 : 0);
                if (cases[i].shown)
                        g_assert_cmpstr(row(gpus, cases[i].id).class, ==, cases[i].shown);
        }
}

/* The driver of Vivante's cores has one render node for all of them. */
static void test_cores_by_vivante(void)
{
        static const char npu[] = "sys/bus/platform/drivers/etnaviv-gpu/ff100000.npu/uevent";
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) only_npu = NULL, both = NULL;

        gpu_root_host(root);
        make_platform_device(root, "drm", "card1", "etnaviv", "etnaviv", NULL);
        fake_root_write_all(root, "sys/devices/platform/etnaviv/drm/renderD129/dev", "226:129\n",
                "sys/bus/platform/drivers/etnaviv-gpu/bind", "", npu, "", NULL);
        only_npu = scan(root);
        g_assert_cmpstr(row(only_npu, "etnaviv").class, ==, "accelerator");
        fake_root_write(root, "sys/bus/platform/drivers/etnaviv-gpu/38000000.gpu/uevent", "");
        both = scan(root);
        g_assert_cmpstr(row(both, "etnaviv").class, ==, "gpu");
}

/* A GPU of Windows is one once NVML knows it: the same device may be a screen, or the GPU of another maker.
 */
static void test_wsl2(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldGpu *gpu;

        gpu_root_host(root);
        gpu_root_pci(root, "5582:00:00.0", "0x030200\n", "0x1414\n", "0x008e\n", "dxgkrnl");
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        gpu = gpus->pdata[0];
        g_assert_true(gpu->has_nvml);
        g_assert_false(ald_gpu_is_shown(gpu));
        gpu->nvml.name = g_strdup("NVIDIA GeForce RTX 4070");
        g_assert_true(ald_gpu_is_shown(gpu));
        g_assert_cmpstr(row(gpus, "5582:00:00.0").vendor, ==, "NVIDIA");
        g_assert_cmpstr(row(gpus, "5582:00:00.0").class, ==, "gpu");
}

/* Screens of management controllers compute nothing, and a card given to a virtual machine is not ours. */
static void test_left_out(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_bmc(root);
        gpu_root_pci(root, "0000:41:00.0", "0x030200\n", "0x10de\n", "0x2331\n", "vfio-pci");
        gpu_root_pci(root, "0000:42:00.0", "0x030000\n", "0x1234\n", "0x1111\n", "bochs-drm");
        gpu_root_pci(root, "nonsense", "0x030000\n", "0x10de\n", "0x2331\n", "nvidia");
        gpu_root_pci(root, "0000:43:00.0", "display\n", "0x10de\n", "0x2331\n", "nvidia");
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 2);
        for (guint i = 0; i < gpus->len; i++)
                g_assert_false(ald_gpu_is_shown(gpus->pdata[i]));
        /* Unless OpenCL says otherwise. */
        ((AldGpu *) gpus->pdata[0])->opencl_platform = g_strdup("rusticl");
        g_assert_true(ald_gpu_is_shown(gpus->pdata[0]));
}

static void test_without_driver(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        AldBackend gpu;

        gpu_root_pci(root, "0000:01:00.0", "0x030200\n", "0x10de\n", "0x20b5\n", NULL);
        gpus = scan(root);
        gpu = row(gpus, "0000:01:00.0");
        g_assert_cmpstr(gpu.name, ==, "NVIDIA 10de:20b5");
        g_assert_cmpstr(gpu.driver, ==, NULL);
        g_assert_false(((AldGpu *) gpus->pdata[0])->has_nvml);
}

/* Eight cards, each in eight partitions, are eight cards. */
static void test_partitions(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_mi300x(root, 8, "CPX\n");
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 8);
        for (unsigned i = 0; i < 8; i++) {
                const AldGpu *gpu = gpus->pdata[i];

                g_assert_true(ald_gpu_is_pci_address(gpu->id));
                g_assert_true(gpu->is_partitioned);
                g_assert_cmpuint(row(gpus, gpu->id).memory_total_bytes, ==, 206141652992);
        }
        g_ptr_array_unref(gpus);
        gpu_root_mi300x(root, 8, "SPX\n");
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 8);
        g_assert_false(((const AldGpu *) gpus->pdata[0])->is_partitioned);
}

/* With a driver or without, virtual functions are part of the card that is here. */
static void test_virtual_functions(void)
{
        static const char card[] = "0000:41:00.0";
        static const char *const functions[] = { "0000:41:00.4", "0000:41:00.5", "0000:41:00.6",
                "0000:42:00.0" };
        static const char *const drivers[] = { NULL, "nvidia", "vfio-pci", "nvidia-vgpu-vfio" };
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_nvidia(root, card, "0x20b5\n", "NVIDIA A100");
        for (size_t i = 0; i < G_N_ELEMENTS(functions); i++)
                gpu_root_virtual_function(root, functions[i], card, drivers[i]);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        for (size_t i = 0; i < G_N_ELEMENTS(functions); i++)
                g_assert_true(ald_gpu_has_function(gpus->pdata[0], functions[i]));
        g_assert_false(ald_gpu_has_function(gpus->pdata[0], card));

        /* The card is given to a virtual machine: what a driver took here is all that is here. */
        fake_root_remove(root, "sys/bus/pci/devices/0000:41:00.0/driver");
        fake_root_link(root, "sys/bus/pci/devices/0000:41:00.0/driver", "../../drivers/xe-vfio-pci");
        g_ptr_array_unref(gpus);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        g_assert_cmpstr(row(gpus, "0000:41:00.5").driver, ==, "nvidia");

        /* Within a virtual machine it looks like a card. */
        fake_root_remove(root, "sys/bus/pci/devices/0000:41:00.4/physfn");
        g_ptr_array_unref(gpus);
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 2);
        g_assert_cmpstr(row(gpus, "0000:41:00.4").driver, ==, NULL);
}

static void test_absurd(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        gpu_root_radeon(root);
        gpu_root_set(root, "0000:03:00.0", "mem_info_vram_total", "18446744073709551615\n");
        gpu_root_set(root, "0000:03:00.0", "vendor", "");
        fake_root_remove(root, "sys/bus/pci/devices/0000:03:00.0/hwmon");
        fake_root_write(root, "proc/meminfo", "MemTotal: lots\n");
        fake_root_mkdir(root, "sys/bus/pci/devices/0000:07:00.0/class");
        gpus = scan(root);
        g_assert_cmpuint(gpus->len, ==, 1);
        g_assert_cmpuint(row(gpus, "0000:03:00.0").memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(row(gpus, "0000:03:00.0").unified, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpstr(row(gpus, "0000:03:00.0").vendor, ==, NULL);
        g_assert_cmpuint(ald_gpu_host_memory(root->fd), ==, ALD_ABSENT_UINT64);
}

static void test_cpu(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldGpu) cpu = NULL, unknown = ald_gpu_cpu(root->fd, ALD_ABSENT_UINT64);

        g_assert_cmpstr(unknown->sysfs.name, ==, NULL);
        g_assert_cmpstr(unknown->vendor, ==, NULL);
        fake_root_write(root, "proc/cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: Xeon\n");
        cpu = ald_gpu_cpu(root->fd, 7);
        g_assert_cmpstr(cpu->sysfs.name, ==, "Xeon");
        g_assert_cmpstr(cpu->vendor, ==, "Intel");
        g_assert_cmpuint(cpu->sysfs.memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(cpu->sysfs.shared_bytes, ==, 7);
}

static void test_addresses(void)
{
        static const char *const good[] = { "0000:01:00.0", "000f:01:00.0", "10000:e1:00.7" };
        static const char *const bad[] = { "", "0000:01:00", "0000:01:00.0 ", "0:1:0.0", "0000:01:00.00",
                "cpu", "000000001:01:00.0", "../../../../etc" };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_true(ald_gpu_is_pci_address(good[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_false(ald_gpu_is_pci_address(bad[i]));
}

static void test_names(void)
{
        static const struct {
                const char *model, *vendor, *name;
        } cases[] = {
                { "Navi 31 [Radeon RX 7900 XTX]", "AMD", "AMD Radeon RX 7900 XTX" },
                { "DG2 [Arc A770]", "Intel", "Intel Arc A770" },
                { "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M] (RX-79XMERCB9 [SPEEDSTER MERC 310 RX "
                  "7900 XTX])",
                        "AMD", "AMD Radeon RX 7900 XTX" },
                { "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M] (RX 7900 XT [XFX])", "AMD",
                        "AMD Radeon RX 7900 XT" },
                /* The database does not say which. */
                { "Navi 22 [Radeon RX 6700/6700 XT/6750 XT / 6800M/6850M XT] (Red Devil RX 6700 XT)", "AMD",
                        "AMD Radeon RX 6700 XT" },
                /* What follows another series continues that, and a number may be in both. */
                { "Baffin [Radeon RX 460/560D / Pro 450/455/460/555] (Radeon Pro 455)", "AMD",
                        "AMD Radeon Pro 455" },
                { "Baffin [Radeon RX 460/560D / Pro 450/455/460/555] (Radeon RX 460)", "AMD",
                        "AMD Radeon RX 460" },
                { "Baffin [Radeon RX 550 640SP / RX 560/560X] (RX 560X Mobile)", "AMD",
                        "AMD Radeon RX 560X" },
                { "Bonaire XT [Radeon HD 7790/8770 / R7 360 / R9 260/360 OEM] (Radeon R9 360 OEM)", "AMD",
                        "AMD Radeon R9 360 OEM" },
                { "GF100GL [Tesla C2050 / C2070] (Tesla C2070)", "NVIDIA", "NVIDIA Tesla C2070" },
                { "Topaz XT [Radeon R7 M260/M265] (Radeon R7 M260/M265)", "AMD", "AMD Radeon R7 M260/M265" },
                { "Battlemage G21 [Arc B580] (Arc B580 Steel Legend 12GB OC [ASRock])", "Intel",
                        "Intel Arc B580" },
                /* Brackets of a mainboard. */
                { "82G965 Integrated Graphics Controller (MS-7276 [G965MDH])", "Intel",
                        "Intel 82G965 Integrated Graphics Controller" },
                { "Cedar [ATI FirePro (FireGL) Graphics Adapter]", "AMD",
                        "AMD ATI FirePro (FireGL) Graphics Adapter" },
                { "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE] (RX 7900 XTX / RX 7900 GRE [XFX])", "AMD",
                        "AMD Radeon RX 7900 XT/7900 XTX/7900 GRE" },
                { "Strix [Radeon 880M / 890M]", "AMD", "AMD Radeon 880M / 890M" },
                { "AD102 [GeForce RTX 4090] (ROG Strix [24G])", "NVIDIA", "NVIDIA GeForce RTX 4090" },
                { "HD Graphics 630", "Intel", "Intel HD Graphics 630" },
                { "Intel Graphics", "Intel", "Intel Graphics" },
                { "AD102 [GeForce RTX 4090]", NULL, "GeForce RTX 4090" },
                { "Odd []", "AMD", "AMD Odd []" },
                { "Odd [", "AMD", "AMD Odd [" },
        };
        g_autofree char *unknown = ald_gpu_parse_nvidia_model("Model: \t\t ???\n");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = ald_gpu_market_name(cases[i].model, cases[i].vendor);

                g_assert_cmpstr(name, ==, cases[i].name);
        }
        g_assert_null(unknown);
        g_assert_null(ald_gpu_parse_nvidia_model(""));
        g_assert_null(ald_gpu_parse_nvidia_model("Model:"));
        g_assert_null(ald_gpu_parse_nvidia_model("IRQ: 1\nModel: x\n"));
}

static void test_amdgpu_ids(void)
{
        static const char ids[] =
                "# device_id,\trevision_id,\tproduct_name\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 "
                "XTX\n744C,\tCC,\tAMD Radeon RX 7900 XT\n7450,\t00,\t\n";
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;

        g_assert_null(ald_gpu_name_from_amdgpu_ids(ids, 0x744c, 0xce));
        g_assert_null(ald_gpu_name_from_amdgpu_ids(ids, 0x7450, 0));
        g_assert_null(ald_gpu_name_from_amdgpu_ids("", 0x7450, 0));
        gpu_root_pci(root, "0000:03:00.0", "0x030000\n", "0x1002\n", "0x744c\n", "amdgpu");
        gpu_root_set(root, "0000:03:00.0", "revision", "0xcc\n");
        fake_root_write(root, "usr/share/libdrm/amdgpu.ids", ids);
        gpus = scan(root);
        g_assert_cmpstr(row(gpus, "0000:03:00.0").name, ==, "AMD Radeon RX 7900 XT");
}

/* With the database of this machine. */
static void test_hwdb(void)
{
        g_autofree char *name = ald_gpu_name_from_hwdb(
                "pci:v00001002d0000744Csv0000sd0000bc03sc00i00", "AMD");
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) gpus = NULL;
        g_autofree char *vendor = NULL;
        g_autofree char *none = ald_gpu_name_from_hwdb("pci:v0000FFFFd0000FFFFsv0000sd0000bc03sc00i00", NULL);

        g_assert_null(none);
        if (!name) {
                g_test_skip("this machine has no hardware database of udev");
                return;
        }
        g_assert_true(g_str_has_prefix(name, "AMD Radeon RX 7900 XT"));
        vendor = ald_gpu_vendor_from_hwdb("pci:v000017CBd0000A100sv0000sd0000bc12sc00i00");
        g_assert_true(vendor && g_str_has_prefix(vendor, "Qualcomm"));
        gpu_root_pci(root, "0000:03:00.0", "0x030000\n", "0x1002\n", "0x744c\n", "amdgpu");
        gpu_root_set(root, "0000:03:00.0", "modalias", "pci:v00001002d0000744Csv0000sd0000bc03sc00i00\n");
        gpus = scan(root);
        g_assert_cmpstr(row(gpus, "0000:03:00.0").name, ==, name);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/gpu-list/dual-nvidia", test_dual_nvidia);
        g_test_add_func("/gpu-list/radeon", test_radeon);
        g_test_add_func("/gpu-list/strix-halo", test_strix_halo);
        g_test_add_func("/gpu-list/instinct", test_instinct);
        g_test_add_func("/gpu-list/intel", test_intel);
        g_test_add_func("/gpu-list/gb10", test_gb10);
        g_test_add_func("/gpu-list/raspberry", test_raspberry);
        g_test_add_func("/gpu-list/jetson", test_jetson);
        g_test_add_func("/gpu-list/amdgpu-ids", test_amdgpu_ids);
        g_test_add_func("/gpu-list/memory-of-the-host", test_memory_of_the_host);
        g_test_add_func("/gpu-list/npus", test_npus);
        g_test_add_func("/gpu-list/cores-by-vivante", test_cores_by_vivante);
        g_test_add_func("/gpu-list/memory-of-tiles", test_memory_of_tiles);
        g_test_add_func("/gpu-list/wsl2", test_wsl2);
        g_test_add_func("/gpu-list/left-out", test_left_out);
        g_test_add_func("/gpu-list/without-driver", test_without_driver);
        g_test_add_func("/gpu-list/partitions", test_partitions);
        g_test_add_func("/gpu-list/virtual-functions", test_virtual_functions);
        g_test_add_func("/gpu-list/absurd", test_absurd);
        g_test_add_func("/gpu-list/cpu", test_cpu);
        g_test_add_func("/gpu-list/addresses", test_addresses);
        g_test_add_func("/gpu-list/names", test_names);
        g_test_add_func("/gpu-list/hwdb", test_hwdb);
        return g_test_run();
}
