/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/command.h"

/* Certificates of the machine that signs them itself, and the addresses of its broker. Functions report
 * errors and return an exit code. */

/* Returns names and addresses of the broker here: those given with --address=, else those of this machine. */
int ald_own_addresses(const AldClusterCommand *command, char ***ret);

/* Returns the same for a new certificate of an existing broker: if none are given, those of its present
 * certificate. */
int ald_own_addresses_again(const AldClusterCommand *command, const AldClusterFiles *files, char ***ret);

/* Signs and installs the certificate of the node; keeps a valid one unless a new one is requested. */
int ald_own_node_certify(AldAuthority *authority, bool anew);

/* Signs and installs the certificate of the broker, and writes the files that mosquitto needs. */
int ald_own_broker_certify(AldAuthority *authority, const char *cluster, char **addresses, bool anew);
