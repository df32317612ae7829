/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "clients/cluster/cluster-files.h"

/* Services that have to read the changes. */
typedef enum AldServices {
        ALD_SERVICES_CLUSTERD = 1 << 0,     /* configuration and certificates */
        ALD_SERVICES_BROKER = 1 << 1,       /* mosquitto, if it is running: a restart ends all sessions */
        ALD_SERVICES_START_BROKER = 1 << 2, /* mosquitto, even if it is not running */
} AldServices;

/*
 * Makes these services read what this run, or an interrupted one, has changed: with systemctl(1) if systemd
 * runs this machine, else over the bus, else by asking the user to do so. Does nothing if nothing was
 * changed. Reports errors and returns an exit code.
 */
int ald_services_apply(const AldClusterFiles *files, AldServices which);

/* Returns the service of a broker if this machine is one, else 0. */
AldServices ald_services_of_broker(const AldClusterFiles *files);

/* Returns whether ald_services_apply() restarts mosquitto with systemctl(1), instead of asking the user to
 * restart it. */
bool ald_services_restarts_broker(void);

/* Runs a program with our standard error and waits for it; returns its exit status, or -errno. */
int ald_services_run(const char *const *argv);
