/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "services/common/pci-address.h"

/* PCI vendors. */
#define ALD_PCI_AMD 0x1002
#define ALD_PCI_INTEL 0x8086
#define ALD_PCI_NVIDIA 0x10de

/* Returns the vendor's name, or NULL. */
const char *ald_gpu_pci_vendor(uint16_t vendor);

/* Returns the vendor of a GPU that is not on PCI, by its driver or the first part of its "compatible"; or
 * NULL. */
const char *ald_gpu_platform_vendor(const char *driver, const char *compatible);

/* Returns whether display controllers of this vendor cannot compute, as in management controllers and virtual
 * machines. */
bool ald_gpu_vendor_is_display(uint16_t vendor);

/* Returns the name that the hardware database of udev gives to a modalias, freed by the caller; NULL if it
 * has none. */
char *ald_gpu_name_from_hwdb(const char *modalias, const char *vendor);

/* Returns the vendor of a modalias in that database, freed by the caller; NULL if it has none. */
char *ald_gpu_vendor_from_hwdb(const char *modalias);

/* Returns the name of the product with these PCI numbers in the text of libdrm's amdgpu.ids, freed by the
 * caller; or NULL. AMD sells several products under one device id, which differ in their revision. */
char *ald_gpu_name_from_amdgpu_ids(const char *text, uint16_t device, uint8_t revision);

/* Converts AMD's "Navi 31 [Radeon RX 7900 XTX]" to "AMD Radeon RX 7900 XTX". If several products share a
 * device id, it chooses the one in the name of the card in parentheses. */
char *ald_gpu_market_name(const char *model, const char *vendor);
