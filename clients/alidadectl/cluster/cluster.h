/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "clients/alidadectl/cluster/changes.h"
#include "clients/command-line/ctl.h"

/* A verb of `alidadectl cluster` with its options and arguments. */
typedef struct AldClusterOrder {
        AldCtl ctl; /* args: the arguments of the verb */
        unsigned n_args;
        bool request, accept, broker, no_broker, replace, renew, force, automatic;
        const char *output;   /* NULL: standard output */
        GPtrArray *addresses; /* of --address, as written */
        AldChanges *changes;
} AldClusterOrder;

/* Each returns an exit code, and has reported an error if it is not 0. */
int ald_cluster_init(const AldClusterOrder *order);
int ald_cluster_join(const AldClusterOrder *order);
int ald_cluster_sign(const AldClusterOrder *order);
int ald_cluster_sign_bridge(const AldClusterOrder *order);
int ald_cluster_status(const AldClusterOrder *order);
int ald_cluster_revoke(const AldClusterOrder *order);
int ald_cluster_renew(const AldClusterOrder *order);
int ald_cluster_renew_due(const AldClusterOrder *order);
int ald_cluster_backup(const AldClusterOrder *order);
int ald_cluster_restore(const AldClusterOrder *order);
int ald_cluster_leave(const AldClusterOrder *order);
int ald_cluster_install_crl(const AldClusterOrder *order);
