/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/* The strings in the DMI tables of the firmware, unchanged; NULL if missing. */
typedef struct AldDmi {
        char *sys_vendor;
        char *product_name;
        char *product_version;
        char *board_vendor;
        char *board_name;
        char *bios_vendor;
        uint64_t chassis_type; /* UINT64_MAX if unknown */
} AldDmi;

void ald_dmi_read(int root, AldDmi *ret);
void ald_dmi_clear(AldDmi *dmi);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldDmi, ald_dmi_clear)

/* Return the vendor and the model, or NULL if the firmware has placeholders only. Owned by `dmi`. */
const char *ald_dmi_vendor(const AldDmi *dmi);
const char *ald_dmi_model(const AldDmi *dmi);
