/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Returns whether this is a PCI address as the kernel writes it: 0000:01:00.0. */
bool ald_gpu_is_pci_address(const char *text);
