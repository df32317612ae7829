/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/pci-address.h"
#include "services/common/sysroot.h"
#include "services/witness/drm-device.h"

/* Returns whether a class has a device of this driver; NULL: of any but NVIDIA's. */
static bool class_has_device(int root, const char *class, const char *prefix, const char *wanted)
{
        g_autofree char *folder = g_strdup_printf("sys/class/%s", class);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, folder, &names) < 0)
                return false;
        for (char **name = names; *name; name++) {
                g_autofree char *link = g_strdup_printf("%s/%s/device/driver", folder, *name), *driver = NULL;

                if (g_str_has_prefix(*name, prefix) && ald_sysroot_link_name(root, link, &driver) >= 0 &&
                        g_str_equal(driver, wanted ?: "nvidia") == (wanted != NULL))
                        return true;
        }
        return false;
}

bool ald_drm_device_any(int root)
{
        return class_has_device(root, "drm", "renderD", NULL) ||
               class_has_device(root, "accel", "accel", NULL);
}

bool ald_drm_device_exists(int root, const char *name)
{
        g_autofree char *drm = g_strdup_printf("sys/bus/pci/devices/%s/drm", name);
        g_autofree char *accel = g_strdup_printf("sys/bus/pci/devices/%s/accel", name);

        if (ald_gpu_is_pci_address(name))
                return ald_sysroot_exists(root, drm) || ald_sysroot_exists(root, accel);
        return class_has_device(root, "drm", "renderD", name) ||
               class_has_device(root, "accel", "accel", name);
}
