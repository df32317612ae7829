/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/schema.h"

/*
 * The route from a device on PCI to the host: its PCI Express links, and what they carry.
 *
 * Drivers slow an idle link, and some narrow it (amdgpu, radeon, nvidia). The current rate, and a width below
 * the full one, are therefore the highest values that were seen while the device was in use, over the last
 * five to ten minutes of use. A usage of a third, as of a desktop whose clocks are at their lowest, does not
 * count as use. Nothing is read while the device may be suspended: the kernel would wake it, or an old kernel
 * would read ones.
 */
typedef struct AldGpuPcie AldGpuPcie;

/* The usage in percent from which a device counts as in use, and how long it must last before each
 * reading. */
#define ALD_GPU_PCIE_USAGE 80.0
#define ALD_GPU_PCIE_USE_USEC (INT64_C(5) * 1000 * 1000)

/* Returns NULL if sysfs does not show where the device with this PCI address is. Reads nothing from the
 * device. */
AldGpuPcie *ald_gpu_pcie_new(int root, const char *address, const char *driver);
void ald_gpu_pcie_free(AldGpuPcie *pcie);

/* Returns whether both lead over the same ports; NULL equals only NULL. */
bool ald_gpu_pcie_same(const AldGpuPcie *a, const AldGpuPcie *b);

/* Follows the links at a sample. `usage` is in percent, or ALD_ABSENT_DOUBLE; `may_read` is as for the
 * device's other figures. Returns whether ald_gpu_pcie_to_host() has something new. */
bool ald_gpu_pcie_sample(AldGpuPcie *pcie, bool may_read, double usage, int64_t now_usec);

/* Sets the fields of the slowest link of the route, and leaves the strings of the row as they are. Returns
 * false if the route has no known link. */
bool ald_gpu_pcie_to_host(const AldGpuPcie *pcie, AldDeviceJoin *row);

/* What the routes of two devices have in common. */
typedef enum AldGpuPcieCommon {
        ALD_GPU_PCIE_APART,  /* nothing */
        ALD_GPU_PCIE_ROOT,   /* a root complex */
        ALD_GPU_PCIE_PORT,   /* a port that leads to both, which are functions of one card */
        ALD_GPU_PCIE_SWITCH, /* a switch */
} AldGpuPcieCommon;

AldGpuPcieCommon ald_gpu_pcie_common(const AldGpuPcie *a, const AldGpuPcie *b);

/* Returns the bits per second that this number of lanes carries at this rate, without the encoding. */
uint64_t ald_gpu_pcie_bandwidth(uint64_t lanes, uint64_t transfers_per_second);

/* Returns the rate in "16.0 GT/s PCIe" or "8 GT/s" in transfers per second; absent for others. */
uint64_t ald_gpu_pcie_parse_rate(const char *text);
