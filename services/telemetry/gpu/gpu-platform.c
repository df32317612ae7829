/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-platform.h"

#define CARDS "sys/class/drm"
#define ACCELERATORS "sys/class/accel"
#define DRIVERS "sys/bus/platform/drivers"

static char *link_name(int root, const char *folder, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, name);
        char *target = NULL;

        (void) ald_sysroot_link_name(root, path, &target);
        return target;
}

/* Returns whether a device can render. One without a render node only drives screens. */
static bool can_render(int root, const char *device)
{
        g_autofree char *folder = g_strdup_printf("%s/drm", device);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, folder, &names) < 0)
                return false;
        for (char **name = names; *name; name++)
                if (g_str_has_prefix(*name, "renderD"))
                        return true;
        return false;
}

/* Returns whether a device has a render node but no GPU: made-up devices, some of which have no driver but
 * only a name, and drivers of screens. */
static bool lacks_gpu(const char *id, const char *driver)
{
        static const char *const names[] = { "vgem", "vkms", "drm", "tegra", "host1x-drm", "tegra-host1x",
                "exynos-drm", "omapdrm", NULL };

        return g_strv_contains(names, id) || (driver && g_strv_contains(names, driver));
}

/* Returns whether a device is the screens of a Tegra. NVIDIA's own driver gives them a render node, besides
 * the GPU, which it drives otherwise. */
static bool is_screen_of_tegra(int root, const char *id, const char *path)
{
        g_autofree char *file = g_strdup_printf("%s/of_node/compatible", path), *compatible = NULL;

        return g_str_has_suffix(id, ".display") && ald_sysroot_read_string(root, file, &compatible) >= 0 &&
               g_str_has_prefix(compatible, "nvidia,tegra");
}

/* Returns whether a device is a partition of an AMD card. These are platform devices without a driver; the
 * card has the row. */
static bool is_partition(const char *id)
{
        return g_str_has_prefix(id, "amdgpu_xcp");
}

/* Returns whether a name is the name of a processor for neural networks: one of its words, which are
 * separated by anything but letters, ends like the generic names of device trees: rk3588-rknpu, RKNPU,
 * fdab0000.npu. */
static bool names_npu(const char *name)
{
        static const char *const ends[] = { "npu", "tpu", "vpu", "kpu", "nna", "dla" };

        while (name && *name) {
                size_t n = 0;

                while (g_ascii_isalpha(name[n]))
                        n++;
                for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
                        if (n >= strlen(ends[i]) && g_ascii_strncasecmp(name + n - strlen(ends[i]), ends[i],
                                                            strlen(ends[i])) == 0)
                                return true;
                name += n > 0 ? n : 1;
        }
        return false;
}

/* Returns whether etnaviv drives NPUs only. It has one device for all cores by Vivante, which are NPUs only
 * on some systems on chip. */
static bool has_npus_only(int root, const char *driver)
{
        g_auto(GStrv) names = NULL;
        bool any = false;

        if (g_strcmp0(driver, "etnaviv") != 0 || ald_sysroot_list(root, DRIVERS "/etnaviv-gpu", &names) < 0)
                return false;
        for (char **name = names; *name; name++) {
                /* Devices such as "38500000.npu" are beside files such as "bind". */
                if (!strchr(*name, '.'))
                        continue;
                if (!names_npu(*name))
                        return false;
                any = true;
        }
        return any;
}

/* Returns the class of a device. Some vendors' kernels give their NPU a render node, as a GPU has. */
static AldBackendClass class_of(
        int root, const char *id, const char *path, const char *driver, const char *compatible)
{
        g_autofree char *accel = g_strdup_printf("%s/accel", path);

        return names_npu(driver) || names_npu(compatible) || names_npu(id) ||
                               ald_sysroot_exists(root, accel) || has_npus_only(root, driver)
                       ? ALD_BACKEND_CLASS_ACCELERATOR
                       : ALD_BACKEND_CLASS_GPU;
}

static void add_device(int root, GPtrArray *gpus, const char *id, const char *path, char *driver)
{
        g_autofree char *compatible_path = g_strdup_printf("%s/of_node/compatible", path), *compatible = NULL;
        const char *chip;
        AldGpu *gpu;

        if (ald_gpu_list_find(gpus, id)) {
                g_free(driver);
                return;
        }
        /* This is a list of strings, each terminated by NUL; the first one, the most exact, is used. */
        (void) ald_sysroot_read_string(root, compatible_path, &compatible);
        gpu = ald_gpu_new(id, path, class_of(root, id, path, driver, compatible));
        gpu->driver = driver;
        gpu->vendor = g_strdup(ald_gpu_platform_vendor(driver, compatible));
        chip = compatible && strchr(compatible, ',') ? strchr(compatible, ',') + 1 : driver;
        gpu->fallback_name = gpu->vendor && chip ? g_strdup_printf("%s %s", gpu->vendor, chip)
                                                 : g_strdup(chip ?: id);
        gpu->sysfs.unified = 1;
        g_ptr_array_add(gpus, gpu);
}

/* Adds a device of one of the two classes. Accelerators need no render node. */
static void add_card(int root, GPtrArray *gpus, const char *class, const char *card)
{
        g_autofree char *folder = g_strdup_printf("%s/%s", class, card);
        g_autofree char *path = g_strdup_printf("%s/device", folder);
        g_autofree char *subsystem = link_name(root, path, "subsystem");
        g_autofree char *id = link_name(root, folder, "device"), *driver = link_name(root, path, "driver");

        if (!id || g_strcmp0(subsystem, "platform") != 0 || lacks_gpu(id, driver) || is_partition(id) ||
                is_screen_of_tegra(root, id, path) || (g_str_equal(class, CARDS) && !can_render(root, path)))
                return;
        add_device(root, gpus, id, path, g_steal_pointer(&driver));
}

static bool is_card(const char *name)
{
        return g_str_has_prefix(name, "card") && !strchr(name, '-');
}

/* Adds the GPU of a Tegra, for which NVIDIA's own driver has no DRM device. */
static void add_tegra(int root, GPtrArray *gpus, const char *driver)
{
        g_autofree char *folder = g_strdup_printf(DRIVERS "/%s", driver);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *path = g_strdup_printf("%s/%s", folder, *name);
                g_autofree char *bound = link_name(root, path, "driver");
                AldGpu *gpu;

                if (g_strcmp0(bound, driver) != 0)
                        continue;
                add_device(root, gpus, *name, path, g_steal_pointer(&bound));
                gpu = ald_gpu_list_find(gpus, *name);
                gpu->has_nvml = true;
        }
}

void ald_gpu_platform_scan(int root, GPtrArray *gpus)
{
        g_auto(GStrv) cards = NULL, accelerators = NULL;

        add_tegra(root, gpus, "gk20a");
        add_tegra(root, gpus, "nvgpu");
        if (ald_sysroot_list(root, CARDS, &cards) >= 0)
                for (char **card = cards; *card; card++)
                        if (is_card(*card))
                                add_card(root, gpus, CARDS, *card);
        if (ald_sysroot_list(root, ACCELERATORS, &accelerators) >= 0)
                for (char **accelerator = accelerators; *accelerator; accelerator++)
                        add_card(root, gpus, ACCELERATORS, *accelerator);
}
