/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/cluster/cluster-files.h"

/* Files that make the mosquitto of this machine a broker of the cluster. Functions report errors and
 * return an exit code. */

/* Checks that mosquitto can be a broker of the cluster without letting others in. */
int ald_broker_files_check(const AldClusterFiles *files);

/* Writes its drop-in and access rules, keeping the rules added for named users, and the announcement for
 * Avahi if that is installed. */
int ald_broker_files_write(const AldClusterFiles *files, const char *cluster);

/* Allows a bridge, by its common name, to publish for all nodes behind it. */
int ald_broker_files_admit(const AldClusterFiles *files, const char *cluster, const char *bridge);

/* Removes all of these files. */
int ald_broker_files_remove(const AldClusterFiles *files);
