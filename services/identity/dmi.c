/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/sysroot.h"
#include "services/common/text.h"
#include "services/identity/dmi.h"

#define DMI "sys/class/dmi/id/"

/* What makers leave in the fields that they forgot; compared without case. */
static const char *const placeholders[] = {
        "all series",
        "base board product name",
        "base board version",
        "board manufacturer",
        "board product name",
        "default",
        "default string",
        "empty",
        "filled by o.e.m.",
        "invalid",
        "manufacturer",
        "n/a",
        "na",
        "no enclosure",
        "none",
        "not applicable",
        "not available",
        "not defined",
        "not specified",
        "o.e.m.",
        "oem",
        "product name",
        "reserved",
        "sample",
        "sku",
        "standard",
        "system manufacturer",
        "system name",
        "system product name",
        "system version",
        "tbd",
        "to be filled by o.e.m",
        "to be filled by o.e.m.",
        "to be filled by oem",
        "type1productconfigid",
        "type2 - board manufacturer",
        "type2 - board product name1",
        "undefined",
        "unknown",
        "unknown product",
        "unspecified",
        "x.x",
};

/* "0000", "xxxx", "....": one character over and over. */
static bool is_one_character(const char *text)
{
        return strspn(text, (const char[]){ *text, '\0' }) == strlen(text);
}

static bool is_placeholder(const char *text)
{
        if (is_one_character(text))
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(placeholders); i++)
                if (g_ascii_strcasecmp(text, placeholders[i]) == 0)
                        return true;
        return false;
}

static const char *useful(const char *text)
{
        return text && !is_placeholder(text) ? text : NULL;
}

void ald_dmi_read(int root, AldDmi *ret)
{
        *ret = (AldDmi){
                .sys_vendor = ald_text_read(root, DMI "sys_vendor"),
                .product_name = ald_text_read(root, DMI "product_name"),
                .product_version = ald_text_read(root, DMI "product_version"),
                .board_vendor = ald_text_read(root, DMI "board_vendor"),
                .board_name = ald_text_read(root, DMI "board_name"),
                .bios_vendor = ald_text_read(root, DMI "bios_vendor"),
                .chassis_type = UINT64_MAX,
        };
        ald_sysroot_read_uint64(root, DMI "chassis_type", &ret->chassis_type);
}

void ald_dmi_clear(AldDmi *dmi)
{
        g_free(dmi->sys_vendor);
        g_free(dmi->product_name);
        g_free(dmi->product_version);
        g_free(dmi->board_vendor);
        g_free(dmi->board_name);
        g_free(dmi->bios_vendor);
        *dmi = (AldDmi){ .chassis_type = UINT64_MAX };
}

const char *ald_dmi_vendor(const AldDmi *dmi)
{
        const char *vendor = useful(dmi->sys_vendor);

        return vendor ? vendor : useful(dmi->board_vendor);
}

static bool has_letter(const char *text)
{
        for (; *text; text++)
                if (g_ascii_isalpha(*text))
                        return true;
        return false;
}

/* Lenovo puts a machine type such as 20XW0055GE into product_name and the name people know, "ThinkPad X1
 * Carbon Gen 9", into product_version; its servers do not, and have a number there. */
static const char *lenovo_model(const AldDmi *dmi)
{
        const char *version = useful(dmi->product_version);

        if (!dmi->sys_vendor || g_ascii_strcasecmp(dmi->sys_vendor, "LENOVO") != 0)
                return NULL;
        if (!version || !has_letter(version) || g_ascii_strcasecmp(version, "Lenovo Product") == 0)
                return NULL;
        return version;
}

const char *ald_dmi_model(const AldDmi *dmi)
{
        const char *model = lenovo_model(dmi);

        if (!model)
                model = useful(dmi->product_name);
        return model ? model : useful(dmi->board_name);
}
