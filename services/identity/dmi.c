/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/identity/dmi.h"
#include "services/common/firmware-text.h"
#include "services/common/sysroot.h"
#include "services/identity/placeholder.h"

#define DMI "sys/class/dmi/id/"

static const char *unless_placeholder(const char *text)
{
        return text && !ald_is_placeholder(text) ? text : NULL;
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
        const char *vendor = unless_placeholder(dmi->sys_vendor);

        return vendor ? vendor : unless_placeholder(dmi->board_vendor);
}

static bool has_letter(const char *text)
{
        for (; *text; text++)
                if (g_ascii_isalpha(*text))
                        return true;
        return false;
}

/* Returns the model of a Lenovo machine, or NULL. Lenovo puts a machine type such as 20XW0055GE into
 * product_name, and the name that people know, "ThinkPad X1 Carbon Gen 9", into product_version. Its servers
 * have a number there instead. */
static const char *lenovo_model(const AldDmi *dmi)
{
        const char *version = unless_placeholder(dmi->product_version);

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
                model = unless_placeholder(dmi->product_name);
        return model ? model : unless_placeholder(dmi->board_name);
}
