/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>
#include <libudev.h>

#include "services/telemetry/gpu/gpu-names.h"

static const struct {
        uint16_t id;
        const char *name;
        bool is_display;
} pci_vendors[] = {
        { ALD_PCI_AMD, "AMD", false },
        { ALD_PCI_INTEL, "Intel", false },
        { ALD_PCI_NVIDIA, "NVIDIA", false },
        { 0x1022, "AMD", false },
        { 0x1013, "Cirrus Logic", true },
        { 0x102b, "Matrox", true },
        { 0x1234, "QEMU", true },
        { 0x126f, "Silicon Motion", true },
        { 0x1414, "Microsoft", true },
        { 0x15ad, "VMware", true },
        { 0x1a03, "ASPEED", true },
        { 0x1af4, "virtio", true },
        { 0x1b36, "Red Hat", true },
        { 0x18ca, "XGI", true },
        { 0x19e5, "Huawei", true },
        { 0x80ee, "VirtualBox", true },
        { 0x1d0f, "Amazon", true },
        { 0x1ae0, "Google", false },
        { 0x1da3, "Habana Labs", false },
        { 0x1e52, "Tenstorrent", false },
        { 0x1e60, "Hailo", false },
        { 0x1ed5, "Moore Threads", false },
};

static const struct {
        const char *key;
        const char *name;
} platform_vendors[] = {
        { "adreno", "Qualcomm" },
        { "msm", "Qualcomm" },
        { "msm_dpu", "Qualcomm" },
        { "msm-mdss", "Qualcomm" },
        { "asahi", "Apple" },
        { "etnaviv", "Vivante" },
        { "gk20a", "NVIDIA" },
        { "nvgpu", "NVIDIA" },
        { "nouveau", "NVIDIA" },
        { "lima", "Arm" },
        { "mali", "Arm" },
        { "panfrost", "Arm" },
        { "panthor", "Arm" },
        { "powervr", "Imagination" },
        { "pvrsrvkm", "Imagination" },
        { "v3d", "Broadcom" },
        { "vc4-drm", "Broadcom" },
        { "apple", "Apple" },
        { "arm", "Arm" },
        { "brcm", "Broadcom" },
        { "img", "Imagination" },
        { "nvidia", "NVIDIA" },
        { "qcom", "Qualcomm" },
        { "vivante", "Vivante" },
};

static bool skip_hex(const char **text, unsigned least, unsigned most)
{
        unsigned n = 0;

        while (n < most && g_ascii_isxdigit(**text)) {
                (*text)++;
                n++;
        }
        return n >= least;
}

static bool skip(const char **text, char c)
{
        if (**text != c)
                return false;
        (*text)++;
        return true;
}

bool ald_gpu_is_pci_address(const char *text)
{
        return skip_hex(&text, 4, 8) && skip(&text, ':') && skip_hex(&text, 2, 2) && skip(&text, ':') &&
               skip_hex(&text, 2, 2) && skip(&text, '.') && skip_hex(&text, 1, 1) && *text == '\0';
}

const char *ald_gpu_pci_vendor(uint16_t vendor)
{
        for (size_t i = 0; i < G_N_ELEMENTS(pci_vendors); i++)
                if (pci_vendors[i].id == vendor)
                        return pci_vendors[i].name;
        return NULL;
}

bool ald_gpu_vendor_is_display(uint16_t vendor)
{
        for (size_t i = 0; i < G_N_ELEMENTS(pci_vendors); i++)
                if (pci_vendors[i].id == vendor)
                        return pci_vendors[i].is_display;
        return false;
}

static const char *platform_vendor(const char *key)
{
        for (size_t i = 0; i < G_N_ELEMENTS(platform_vendors); i++)
                if (g_str_equal(platform_vendors[i].key, key))
                        return platform_vendors[i].name;
        return NULL;
}

const char *ald_gpu_platform_vendor(const char *driver, const char *compatible)
{
        g_autofree char *first = NULL;
        const char *name = driver ? platform_vendor(driver) : NULL;

        if (name || !compatible)
                return name;
        first = g_strndup(compatible, strcspn(compatible, ","));
        return platform_vendor(first);
}

char *ald_gpu_market_name(const char *model, const char *vendor)
{
        const char *begin = strrchr(model, '['), *end = begin ? strchr(begin, ']') : NULL;
        g_autofree char *name = end && end > begin + 1 ? g_strndup(begin + 1, (gsize) (end - begin - 1))
                                                       : g_strdup(model);

        if (!vendor || g_str_has_prefix(name, vendor))
                return g_steal_pointer(&name);
        return g_strdup_printf("%s %s", vendor, name);
}

char *ald_gpu_name_from_hwdb(const char *modalias, const char *vendor)
{
        struct udev *udev = udev_new();
        struct udev_hwdb *hwdb = udev ? udev_hwdb_new(udev) : NULL;
        struct udev_list_entry *list = hwdb ? udev_hwdb_get_properties_list_entry(hwdb, modalias, 0) : NULL;
        struct udev_list_entry *model = list ? udev_list_entry_get_by_name(list, "ID_MODEL_FROM_DATABASE")
                                             : NULL;
        char *name = NULL;

        if (model)
                name = ald_gpu_market_name(udev_list_entry_get_value(model), vendor);
        if (hwdb)
                udev_hwdb_unref(hwdb);
        if (udev)
                udev_unref(udev);
        return name;
}
