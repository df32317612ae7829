/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network/network-nm.h"

/*
 * libnm and its dependencies use more memory than the rest of the service, so they are in a module, which is
 * loaded if NetworkManager is on the bus. Returns NULL on failure, after logging it. The module is never
 * unloaded, since GObject types cannot be unregistered.
 */
const AldNetworkNmApi *ald_network_nm_module_load(void);
