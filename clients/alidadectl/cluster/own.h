/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/cluster/authority.h"
#include "clients/alidadectl/cluster/cluster.h"

/* Certificates of the machine that signs them itself, and brokers as the verbs name them. Functions complain
 * and return an exit code. */

/* Names and addresses for the broker here: as given, else those that this machine has. */
int ald_own_addresses(const AldClusterOrder *order, char ***ret);

/* The same for a new certificate of the broker that is here: those of the one it has, if none are given. */
int ald_own_addresses_again(const AldClusterOrder *order, const AldHome *home, char ***ret);

/* The node's certificate: the one that is there if it is good and not asked for anew. */
int ald_own_node(AldAuthority *authority, bool anew);

/* The broker's, and what mosquitto needs. */
int ald_own_broker(AldAuthority *authority, const char *cluster, char **addresses, bool anew);
