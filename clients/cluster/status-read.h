/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "clients/command-line/ctl.h"

/*
 * {"Cluster": properties, "Brokers": rows, "Nodes": rows} of org.alidade.Cluster1, with the FriendlyName of
 * nodes that the state service knows. Returns an exit code; *ret_problem says why it cannot be read.
 */
int ald_cluster_status_read(const AldCtl *ctl, json_t **ret, char **ret_problem);
