/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/common/connection.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"

/* A connection that the program owns: g_autoptr() flushes and closes it, while it only unrefs an AldBus. */
typedef sd_bus AldOwnBus;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOwnBus, sd_bus_flush_close_unref)

/* Checks the syntax of the host on the command line. Reports errors and returns an exit code. */
int ald_bus_check_host(const AldCtl *ctl);

/* Opens the bus that the command line selects. Reports errors and returns an exit code. */
int ald_bus_open(const AldCtl *ctl, sd_bus **ret);

/* Checks that a service answers, starting it if possible, and prints a notice if this takes long. */
int ald_bus_await(sd_bus *bus, const char *name, sd_bus_error *error);

/* Sets an error from a negative errno unless one is set. */
void ald_bus_ensure_error(sd_bus_error *error, int r);

/* Returns the exit code for a failed call. */
int ald_bus_exit_code(const sd_bus_error *error);

/* Reports why an action of the unit failed, with the text of the error, made safe. Returns the exit code. */
int ald_bus_print_error(const sd_bus_error *error, const char *what, const char *unit);
