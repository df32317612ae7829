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

static bool begins_word(const char *text, const char *at)
{
        return at == text || !g_ascii_isalnum(at[-1]);
}

/* Returns the part of a name by which the products of one series differ: from the first word on that begins
 * with a digit, "7900 XT", else from the first one that contains a digit, "W7900"; the whole name if none
 * does. */
static const char *product_number(const char *product)
{
        const char *number = NULL;

        for (const char *at = product; *at; at++) {
                if (!g_ascii_isdigit(*at))
                        continue;
                if (begins_word(product, at))
                        return at;
                for (number = number ? number : at; !begins_word(product, number); number--)
                        ;
        }
        return number ? number : product;
}

/* Returns where a text has these words, rather than longer ones: "7900 XT" is not in "RX 7900 XTX". NULL if
 * nowhere. */
static const char *find_words(const char *text, const char *words)
{
        size_t n = strlen(words);

        for (const char *at = text; (at = strstr(at, words)); at++)
                if (begins_word(text, at) && !g_ascii_isalnum(at[n]))
                        return at;
        return NULL;
}

/* Returns the full name of one of the products in "Radeon RX 550/550X / RX 560/560X". A product that begins
 * with a number lacks the words of the one before, and one that continues a series may lack its brand. */
static char *complete_product(const char *first, const char *before, const char *product)
{
        size_t brand = strcspn(first, " "), series = strcspn(product, " ");

        if (g_ascii_isdigit(*product))
                return g_strdup_printf("%.*s%s", (int) (product_number(before) - before), before, product);
        if (first[brand] == ' ' && product[series] == ' ' &&
                strncmp(first + brand + 1, product, series + 1) == 0)
                return g_strdup_printf("%.*s%s", (int) brand + 1, first, product);
        return g_strdup(product);
}

/* Returns a name such as "Radeon Pro 455" if the card's vendor writes it in full, with a brand before and
 * this number; else NULL. */
static char *name_on_card(const char *first, const char *number, const char *card)
{
        g_autofree char *brand = g_strndup(first, strcspn(first, " "));
        const char *end = find_words(card, number), *begin = find_words(card, brand);

        if (!end || !begin || begin >= end)
                return NULL;
        for (const char *at = begin; at < end; at++)
                if (!g_ascii_isalnum(*at) && *at != ' ')
                        return NULL;
        return g_strndup(begin, (gsize) (end - begin) + strlen(number));
}

/* Chooses the product that the card is among several that share a device id. Returns all of them if the
 * database does not tell them apart. */
static char *choose_product(const char *products, const char *card)
{
        g_auto(GStrv) list = g_strsplit(products, "/", -1);
        g_autofree char *found = NULL, *before = g_strdup(list[0] ? g_strstrip(list[0]) : "");
        char *written;

        for (char **product = list; card && *product; product++) {
                g_autofree char *name = complete_product(list[0], before, g_strstrip(*product));
                const char *number = product_number(name), *other = found ? product_number(found) : "";

                g_free(before);
                before = g_strdup(name);
                if (!strpbrk(name, "0123456789") || !find_words(card, number))
                        continue;
                if (!g_str_has_prefix(number, other) && !g_str_has_prefix(other, number))
                        return g_strdup(products);
                if (strlen(number) > strlen(other)) {
                        g_free(found);
                        found = g_steal_pointer(&name);
                }
        }
        if (!found)
                return g_strdup(products);
        written = name_on_card(list[0], product_number(found), card);
        return written ? written : g_steal_pointer(&found);
}

/* The model has the form "CHIP [PRODUCTS] (CARD)". The database describes the cards of the vendors that it
 * knows; the description may have brackets as well. */
char *ald_gpu_market_name(const char *model, const char *vendor)
{
        const char *card = strchr(model, '('), *begin = strchr(model, '[');
        const char *end = begin && !(card && card < begin) ? strchr(begin, ']') : NULL;
        g_autofree char *products = end && end > begin + 1 ? g_strndup(begin + 1, (gsize) (end - begin - 1))
                                    : card && card > model ? g_strndup(model, (gsize) (card - model))
                                                           : g_strdup(model);
        g_autofree char *name = choose_product(g_strstrip(products), end ? strchr(end, '(') : NULL);

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
