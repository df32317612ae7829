/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/fabric/fabric-rows.h"

/* Adds the ports of the RDMA devices in sys/class/infiniband. */
void ald_fabric_read_rdma(AldFabricRows *rows);
