/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/cluster/home.h"

/*
 * Has what was changed taken up: by systemctl(1) where systemd runs this machine, else over the bus, else by
 * a line about what to do. Functions complain and return an exit code.
 */

/* The cluster service reads configuration and certificates again. */
int ald_services_reload_clusterd(const AldHome *home, const AldCtl *ctl);

/* mosquitto reads all of it again; with `start` also where it does not run. */
int ald_services_restart_broker(const AldHome *home, bool start);

/* The same where this machine is a broker: for only that ends the sessions of those who were shut out. */
int ald_services_end_sessions(const AldHome *home);

/* Runs a program with our standard error to its end; returns its exit status, or -errno. */
int ald_services_run(const char *const *argv);
