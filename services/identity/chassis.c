/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/sysroot.h"
#include "services/common/text.h"
#include "services/identity/chassis.h"

/* SMBIOS, 7.4.1: the obvious ones only, since firmware is careless with the others. */
static const char *chassis_by_dmi(uint64_t type)
{
        switch (type) {
        case 0x03: /* desktop */
        case 0x04: /* low profile desktop */
        case 0x06: /* mini tower */
        case 0x07: /* tower */
        case 0x0d: /* all in one */
        case 0x23: /* mini PC */
        case 0x24: /* stick PC */
                return "desktop";
        case 0x08: /* portable */
        case 0x09: /* laptop */
        case 0x0a: /* notebook */
        case 0x0e: /* sub notebook */
                return "laptop";
        case 0x0b: /* hand held */
                return "handset";
        case 0x11: /* main server chassis */
        case 0x1c: /* blade */
        case 0x1d: /* blade enclosure */
                return "server";
        case 0x1e: /* tablet */
                return "tablet";
        case 0x1f: /* convertible */
        case 0x20: /* detachable */
                return "convertible";
        case 0x21: /* IoT gateway */
        case 0x22: /* embedded PC */
                return "embedded";
        default:
                return NULL;
        }
}

/* ACPI, 5.2.9.1. */
static const char *chassis_by_acpi(int root)
{
        uint64_t profile;

        if (ald_sysroot_read_uint64(root, "sys/firmware/acpi/pm_profile", &profile) < 0)
                return NULL;
        switch (profile) {
        case 1: /* desktop */
        case 3: /* workstation */
        case 6: /* appliance PC */
                return "desktop";
        case 2: /* mobile */
                return "laptop";
        case 4: /* enterprise server */
        case 5: /* SOHO server */
        case 7: /* performance server */
                return "server";
        case 8: /* tablet */
                return "tablet";
        default:
                return NULL;
        }
}

/* The environment of process 1 is NUL separated, and for root only. */
static bool has_container_variable(int root)
{
        g_autofree char *environment = NULL;
        ssize_t n = ald_bytes_try_read(root, "proc/1/environ", &environment);

        for (ssize_t i = 0; i < n; i += (ssize_t) strlen(environment + i) + 1)
                if (g_str_has_prefix(environment + i, "container="))
                        return true;
        return false;
}

/* What container managers leave inside. */
static bool is_container(int root)
{
        static const char *const marks[] = { "run/systemd/container", "run/host/container-manager",
                "run/.containerenv", ".dockerenv" };

        for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
                if (ald_sysroot_exists(root, marks[i]))
                        return true;
        return has_container_variable(root);
}

const char *ald_chassis_detect(int root, bool is_virtual, const AldDmi *dmi, const AldDeviceTree *tree)
{
        const char *chassis;

        if (is_container(root))
                return "container";
        if (is_virtual)
                return "vm";
        chassis = chassis_by_dmi(dmi->chassis_type);
        if (!chassis)
                chassis = chassis_by_acpi(root);
        return chassis ? chassis : tree->chassis_type;
}
