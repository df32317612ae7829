/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/column-table.h"
#include "clients/common/finding-history.h"

/* Reads the events of a span of time, and reports errors. Returns an exit code. */
int ald_event_list_read(sd_bus *bus, uint64_t from_usec, uint64_t to_usec, GPtrArray **ret);

/* Prints the events, the oldest first unless --sort= says otherwise; as a table with these columns if
 * --columns= is given. Returns an exit code. */
int ald_event_list_print(
        const AldCtl *ctl, const AldColumnChoice *choice, uint64_t from_usec, uint64_t to_usec);
