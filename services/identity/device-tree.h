/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

/* The facts in the device tree of the firmware; NULL if missing. */
typedef struct AldDeviceTree {
        char *model;            /* Raspberry Pi 5 Model B Rev 1.0 */
        char **compatible;      /* raspberrypi,5-model-b brcm,bcm2712; never NULL once read */
        char *chassis_type;     /* as named by hostname1 */
        const char *hypervisor; /* kvm */
} AldDeviceTree;

void ald_device_tree_read(int root, AldDeviceTree *ret);
void ald_device_tree_clear(AldDeviceTree *tree);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldDeviceTree, ald_device_tree_clear)

/* Returns the NUL-terminated strings of a property, without invalid ones. Never NULL. Free with g_strfreev().
 */
char **ald_device_tree_strings(const char *data, size_t length);

/* Returns the vendor according to the first compatible name, or NULL. Free with g_free(). */
char *ald_device_tree_vendor(const AldDeviceTree *tree);
