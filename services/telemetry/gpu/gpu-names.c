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

/* The products of "Radeon RX 7900 XT/7900 XTX": each but the first lacks what comes before the number. */
static char *name_product(const char *first, const char *product)
{
        const char *number = first;

        if (product == first || !g_ascii_isdigit(*product))
                return g_strdup(product);
        while (*number && !(g_ascii_isdigit(*number) && (number == first || number[-1] == ' ')))
                number++;
        return g_strdup_printf("%.*s%s", (int) (number - first), first, product);
}

/* Whether the card's maker names this number: "7900 XT" is not in "RX 7900 XTX". */
static bool is_named(const char *card, const char *product)
{
        const char *number = strpbrk(product, "0123456789");
        const char *at = number ? strstr(card, number) : NULL;

        return at && (at == card || !g_ascii_isalnum(at[-1])) && !g_ascii_isalnum(at[strlen(number)]);
}

/* The one of several products that share a device id which the card is; all of them if the database does not
 * say that. */
static char *choose_product(const char *products, const char *card)
{
        g_auto(GStrv) list = g_strsplit(products, "/", -1);
        const char *found = NULL;

        for (char **product = list; card && *product; product++) {
                if (!is_named(card, g_strstrip(*product)))
                        continue;
                if (found && !g_str_has_prefix(*product, found) && !g_str_has_prefix(found, *product))
                        return g_strdup(products);
                if (!found || strlen(*product) > strlen(found))
                        found = *product;
        }
        return found ? name_product(list[0], found) : g_strdup(products);
}

/* "CHIP [PRODUCTS] (CARD)": the database describes the card of a maker that it knows. */
char *ald_gpu_market_name(const char *model, const char *vendor)
{
        const char *begin = strchr(model, '['), *end = begin ? strchr(begin, ']') : NULL;
        g_autofree char *products = end && end > begin + 1 ? g_strndup(begin + 1, (gsize) (end - begin - 1))
                                                           : g_strdup(model);
        g_autofree char *name = choose_product(products, end ? strchr(end, '(') : NULL);

        if (!vendor || g_str_has_prefix(name, vendor))
                return g_steal_pointer(&name);
        return g_strdup_printf("%s %s", vendor, name);
}

char *ald_gpu_name_from_amdgpu_ids(const char *text, uint16_t device, uint8_t revision)
{
        g_autofree char *key = g_strdup_printf("%04X,\t%02X,\t", device, revision);

        for (const char *line = text; line; line = strchr(line, '\n')) {
                g_autofree char *name = NULL;

                line += *line == '\n';
                if (g_ascii_strncasecmp(line, key, strlen(key)) != 0)
                        continue;
                line += strlen(key);
                name = g_strndup(line, strcspn(line, "\n"));
                g_strstrip(name);
                return *name == '\0' || !g_utf8_validate(name, -1, NULL) ? NULL : g_steal_pointer(&name);
        }
        return NULL;
}

static char *read_hwdb(const char *modalias, const char *key)
{
        struct udev *udev = udev_new();
        struct udev_hwdb *hwdb = udev ? udev_hwdb_new(udev) : NULL;
        struct udev_list_entry *list = hwdb ? udev_hwdb_get_properties_list_entry(hwdb, modalias, 0) : NULL;
        struct udev_list_entry *entry = list ? udev_list_entry_get_by_name(list, key) : NULL;
        char *text = entry ? g_strdup(udev_list_entry_get_value(entry)) : NULL;

        if (hwdb)
                udev_hwdb_unref(hwdb);
        if (udev)
                udev_unref(udev);
        return text;
}

char *ald_gpu_name_from_hwdb(const char *modalias, const char *vendor)
{
        g_autofree char *model = read_hwdb(modalias, "ID_MODEL_FROM_DATABASE");

        return model ? ald_gpu_market_name(model, vendor) : NULL;
}

char *ald_gpu_vendor_from_hwdb(const char *modalias)
{
        return read_hwdb(modalias, "ID_VENDOR_FROM_DATABASE");
}
