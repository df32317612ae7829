/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/common/finding-history.h"

#define ALD_EVENT_LASTS "lasts"

/* Reads the events of a time, and reports errors. Returns an exit code. */
int ald_event_list_read(sd_bus *bus, uint64_t from_usec, uint64_t to_usec, GPtrArray **ret);

/* Prints them, the oldest first. Returns an exit code. */
int ald_event_list_print(const AldCtl *ctl, uint64_t from_usec, uint64_t to_usec);
