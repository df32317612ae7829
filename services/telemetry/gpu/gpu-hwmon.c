/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-hwmon.h"

char *ald_gpu_hwmon_path(int root, const char *device)
{
        g_autofree char *folder = g_strdup_printf("%s/hwmon", device);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, folder, &names) < 0)
                return NULL;
        for (char **name = names; *name; name++)
                if (g_str_has_prefix(*name, "hwmon"))
                        return g_strdup_printf("%s/%s", folder, *name);
        return NULL;
}
