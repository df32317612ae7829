/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/telemetry/gpu/gpu-device.h"

/*
 * Adds the compute devices on PCI, from files of sysfs that the kernel holds in memory, so that reading them
 * does not wake a device. Names that no driver reports are looked up in the hardware database of this
 * machine, whatever the root, since it describes devices, not a machine.
 */
void ald_gpu_pci_scan(int root, GPtrArray *gpus);

/* Returns the model in /proc/driver/nvidia/gpus/ADDRESS/information, freed by the caller, or NULL. */
char *ald_gpu_parse_nvidia_model(const char *text);
