/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "services/identity/device-tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_auto(AldDeviceTree) tree = { .compatible = ald_device_tree_strings((const char *) data, size) };
        g_autofree char *vendor = ald_device_tree_vendor(&tree);

        for (char **string = tree.compatible; *string; string++)
                g_assert_true(**string && g_utf8_validate(*string, -1, NULL));
        g_assert_true(!vendor || *vendor);
        return 0;
}
