/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network-nm.h"

/*
 * libnm and what it brings take more memory than all the rest of the service, so they are in a module, which
 * is loaded where there is a NetworkManager. Returns NULL, after logging why, where that fails. Once loaded
 * it stays: the types of GObject cannot be taken back.
 */
const AldNetworkNmApi *ald_network_nm_module_load(void);
