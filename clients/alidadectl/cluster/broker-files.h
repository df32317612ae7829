/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/cluster/home.h"

/* What makes the mosquitto of this machine a broker of the cluster. Functions complain and return an exit
 * code. */

/* Whether it can be one without opening a way in for others. */
int ald_broker_files_check(const AldHome *home);

/* Writes its drop-in and rights, keeping those that were added for named users, and the hint for Avahi where
 * that is there. */
int ald_broker_files_write(const AldHome *home, const char *cluster);

/* Adds the right of a bridge, by its common name, to write for all nodes behind it. */
int ald_broker_files_admit(const AldHome *home, const char *cluster, const char *bridge);

/* Removes all of it. */
int ald_broker_files_remove(const AldHome *home);

/* Whether it is one. */
bool ald_broker_files_exist(const AldHome *home);
