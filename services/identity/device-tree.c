/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/firmware-text.h"
#include "services/common/sysroot.h"
#include "services/identity/device-tree.h"

#define STRINGS_MAX 32u

static const char *const bases[] = { "sys/firmware/devicetree/base", "proc/device-tree" };

/* The vendor prefixes of machines that people build clusters of. Other prefixes are shown unchanged. */
static const struct {
        const char *prefix;
        const char *vendor;
} vendors[] = {
        { "apple", "Apple Inc." },
        { "banana", "Banana Pi" },
        { "bananapi", "Banana Pi" },
        { "firefly", "Firefly" },
        { "friendlyarm", "FriendlyElec" },
        { "hardkernel", "Hardkernel" },
        { "ibm", "IBM" },
        { "khadas", "Khadas" },
        { "lenovo", "LENOVO" },
        { "libretech", "Libre Computer" },
        { "milkv", "Milk-V" },
        { "nvidia", "NVIDIA" },
        { "pine64", "PINE64" },
        { "qcom", "Qualcomm" },
        { "qemu", "QEMU" },
        { "radxa", "Radxa" },
        { "raspberrypi", "Raspberry Pi" },
        { "rockchip", "Rockchip" },
        { "sifive", "SiFive" },
        { "sipeed", "Sipeed" },
        { "solidrun", "SolidRun" },
        { "sophgo", "SOPHGO" },
        { "spacemit", "SpacemiT" },
        { "starfive", "StarFive" },
        { "turing", "Turing Machines" },
        { "xunlong", "Xunlong" },
};

char **ald_device_tree_strings(const char *data, size_t length)
{
        g_autoptr(GPtrArray) strings = g_ptr_array_new_with_free_func(g_free);
        size_t at = 0;

        while (at < length && strings->len < STRINGS_MAX) {
                size_t n = strnlen(data + at, length - at);
                char *text = ald_firmware_text_normalize(data + at, n);

                if (text)
                        g_ptr_array_add(strings, text);
                at += n + 1;
        }
        g_ptr_array_add(strings, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&strings), FALSE);
}

static char **read_strings(int root, const char *base, const char *property)
{
        g_autofree char *path = g_build_filename(base, property, NULL);
        g_autofree char *data = NULL;
        ssize_t n = ald_bytes_read(root, path, &data);

        return ald_device_tree_strings(data, n < 0 ? 0 : (size_t) n);
}

static char *read_string(int root, const char *base, const char *property)
{
        g_auto(GStrv) strings = read_strings(root, base, property);

        return g_strdup(strings[0]);
}

static bool has_property(int root, const char *base, const char *name)
{
        g_autofree char *path = g_build_filename(base, name, NULL);

        return ald_sysroot_exists(root, path);
}

static bool has_node_like(int root, const char *base, const char *part)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, base, &names) < 0)
                return false;
        for (char **name = names; *name; name++)
                if (strstr(*name, part))
                        return true;
        return false;
}

static const char *hypervisor_by_node(const char *compatible)
{
        if (g_str_equal(compatible, "linux,kvm"))
                return "kvm";
        if (strstr(compatible, "xen"))
                return "xen";
        if (strstr(compatible, "vmware"))
                return "vmware";
        return "other";
}

static const char *find_hypervisor(int root, const char *base, const char *const *compatible)
{
        g_autofree char *node = read_string(root, base, "hypervisor/compatible");

        if (node)
                return hypervisor_by_node(node);
        if (has_property(root, base, "ibm,partition-name") && has_property(root, base, "hmc-managed?"))
                return "powervm";
        if (has_node_like(root, base, "fw-cfg") || g_strv_contains(compatible, "qemu,pseries"))
                return "qemu";
        if (!g_strv_contains(compatible, "linux,dummy-virt"))
                return NULL;
        /* This is the machine type of Linux's own virtual machine monitors, all of which use KVM. */
        return has_property(root, base, "vmgenid") ? "firecracker" : "kvm";
}

static bool is_chassis(const char *word)
{
        static const char *const words[] = { "convertible", "desktop", "embedded", "handset", "laptop",
                "server", "tablet", "watch", NULL };

        return g_strv_contains(words, word);
}

void ald_device_tree_read(int root, AldDeviceTree *ret)
{
        const char *base = ald_sysroot_exists(root, bases[0]) ? bases[0] : bases[1];

        *ret = (AldDeviceTree){
                .model = read_string(root, base, "model"),
                .compatible = read_strings(root, base, "compatible"),
                .chassis_type = read_string(root, base, "chassis-type"),
        };
        if (ret->chassis_type && !is_chassis(ret->chassis_type))
                g_clear_pointer(&ret->chassis_type, g_free);
        ret->hypervisor = find_hypervisor(root, base, (const char *const *) ret->compatible);
}

void ald_device_tree_clear(AldDeviceTree *tree)
{
        g_free(tree->model);
        g_strfreev(tree->compatible);
        g_free(tree->chassis_type);
        *tree = (AldDeviceTree){ 0 };
}

char *ald_device_tree_vendor(const AldDeviceTree *tree)
{
        const char *first = tree->compatible[0];
        const char *comma = first ? strchr(first, ',') : NULL;

        if (!comma || g_str_has_prefix(first, "linux,"))
                return NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(vendors); i++)
                if (strlen(vendors[i].prefix) == (size_t) (comma - first) &&
                        strncmp(first, vendors[i].prefix, (size_t) (comma - first)) == 0)
                        return g_strdup(vendors[i].vendor);
        return ald_firmware_text_normalize(first, (size_t) (comma - first));
}
