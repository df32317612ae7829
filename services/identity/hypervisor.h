/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/cpuinfo.h"
#include "services/identity/device-tree.h"
#include "services/identity/dmi.h"

/*
 * What runs this machine if it is a virtual one, in the words of systemd-detect-virt(1) and, where that knows
 * less, the name of the monitor itself: firecracker, cloud-hypervisor. "other" for one that hides. NULL on
 * bare metal. `signature` is that of CPUID, empty where it was not asked.
 */
const char *ald_hypervisor_detect(int root, const char *signature, const AldCpuinfo *cpuinfo,
        const AldDmi *dmi, const AldDeviceTree *tree);
