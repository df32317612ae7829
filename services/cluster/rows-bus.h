/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/cluster/cluster-manager.h"

/* The replies of GetBrokers() and GetNodes(), an aa{sv} each. */
int ald_rows_bus_append_brokers(sd_bus_message *message, const AldClusterManager *manager);
int ald_rows_bus_append_nodes(sd_bus_message *message, const AldClusterManager *manager);
