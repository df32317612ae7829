/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/ctl.h"
#include "clients/common/connection.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"

/* For a connection of our own, which is ended with what is to be said on it. */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_flush_close_unref)

/* Opens the bus that was asked for. Says what is wrong and returns an exit code, 0 where all is well. */
int ald_bus_open(const AldCtl *ctl, sd_bus **ret);

/* Finds out whether a service answers, starting it where it can be started, and says so if it takes its time.
 */
int ald_bus_await(sd_bus *bus, const char *name, sd_bus_error *error);

/* Puts a failure into words where no error was sent with it. */
void ald_bus_ensure_error(sd_bus_error *error, int r);

/* What a failed call means to the one who ran us. */
int ald_bus_exit_code(const sd_bus_error *error);

/* Says why something that the unit does failed: the text of the error, made safe. Returns the exit code for
 * it.
 */
int ald_bus_complain(const sd_bus_error *error, const char *what, const char *unit);
