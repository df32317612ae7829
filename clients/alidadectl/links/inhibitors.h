/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "clients/command-line/bus.h"

#define ALD_INHIBITORS_SHOWN_MAX 4096u

/* The locks that keep probes away: rows with What, Who, Why, Uid, Pid and Number. Negative errno with the
 * error set. */
int ald_inhibitors_read(sd_bus *bus, json_t *rows, sd_bus_error *error);

/* Whether the lock in a row keeps probes of "compute", "rdma" or "link" away. */
bool ald_inhibitor_holds(const json_t *row, const char *kind);

/* Appends a table of them, with names of users if they belong to this machine. */
void ald_inhibitors_describe(GString *out, const json_t *rows, bool local, unsigned columns);
