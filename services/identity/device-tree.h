/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

/* What the device tree of the firmware says; NULL where it says nothing. */
typedef struct AldDeviceTree {
        char *model;            /* Raspberry Pi 5 Model B Rev 1.0 */
        char **compatible;      /* raspberrypi,5-model-b brcm,bcm2712; never NULL once read */
        char *chassis_type;     /* a word of hostname1 */
        const char *hypervisor; /* kvm */
} AldDeviceTree;

void ald_device_tree_read(int root, AldDeviceTree *ret);
void ald_device_tree_clear(AldDeviceTree *tree);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldDeviceTree, ald_device_tree_clear)

/* The strings of a property, which end with NUL bytes. Bad ones are left out. Never NULL. */
char **ald_device_tree_strings(const char *data, size_t length);

/* The maker by the first of the compatible names, or NULL. To be freed. */
char *ald_device_tree_vendor(const AldDeviceTree *tree);
