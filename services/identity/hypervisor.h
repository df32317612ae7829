/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/cpuinfo.h"
#include "services/identity/device-tree.h"
#include "services/identity/dmi.h"

/*
 * The hypervisor of a virtual machine, as named by systemd-detect-virt(1), or a more specific name of the
 * monitor: firecracker, cloud-hypervisor. "other" if it is unknown. NULL on bare metal. `signature` is that
 * of CPUID, empty if it was not queried.
 */
const char *ald_hypervisor_detect(int root, const char *signature, const AldCpuinfo *cpuinfo,
        const AldDmi *dmi, const AldDeviceTree *tree);
