/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "clients/cluster/changes.h"
#include "clients/command-line/ctl.h"

/* A verb of `alidadectl cluster` with its options and arguments. */
typedef struct AldClusterCommand {
        AldCtl ctl; /* args: the arguments of the verb */
        unsigned n_args;
        bool request, accept, broker, no_broker, replace, renew, force, automatic, check;
        const char *output;   /* NULL: standard output */
        GPtrArray *addresses; /* values of --address, as written */
        AldChanges *changes;
} AldClusterCommand;

/* The verbs. Each returns an exit code, and has reported an error if it is not 0. */
int ald_cluster_init(const AldClusterCommand *command);
int ald_cluster_join(const AldClusterCommand *command);
int ald_cluster_sign(const AldClusterCommand *command);
int ald_cluster_sign_bridge(const AldClusterCommand *command);
int ald_cluster_status(const AldClusterCommand *command);
int ald_cluster_certificates(const AldClusterCommand *command);
int ald_cluster_revoke(const AldClusterCommand *command);
int ald_cluster_renew(const AldClusterCommand *command);
int ald_cluster_renew_due(const AldClusterCommand *command);
int ald_cluster_backup(const AldClusterCommand *command);
int ald_cluster_restore(const AldClusterCommand *command);
int ald_cluster_leave(const AldClusterCommand *command);
int ald_cluster_install_crl(const AldClusterCommand *command);
