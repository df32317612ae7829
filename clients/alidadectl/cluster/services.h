/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "clients/alidadectl/cluster/home.h"

/* Which services are to read what was changed. */
typedef enum AldServices {
        ALD_SERVICES_CLUSTERD = 1 << 0,     /* configuration and certificates */
        ALD_SERVICES_BROKER = 1 << 1,       /* mosquitto, where it runs: restarting it ends all sessions */
        ALD_SERVICES_START_BROKER = 1 << 2, /* mosquitto, also where it does not run */
} AldServices;

/*
 * Has these read what this run changed, or one that was interrupted: by systemctl(1) where systemd runs this
 * machine, else over the bus, else by a line about what to do. Nothing is done where nothing was changed.
 * Complains and returns an exit code.
 */
int ald_services_apply(const AldHome *home, AldServices which);

/* Of a broker on this machine, else 0. */
AldServices ald_services_of_broker(const AldHome *home);

/* Whether it runs mosquitto by systemctl(1), or only says that somebody has to restart it. */
bool ald_services_restarts_broker(void);

/* Runs a program with our standard error to its end; returns its exit status, or -errno. */
int ald_services_run(const char *const *argv);
