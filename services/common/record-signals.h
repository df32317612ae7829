/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "record/record.h"

/*
 * PropertiesChanged, InterfacesAdded with the records that end with NULL, and InterfacesRemoved with the
 * interfaces that end with NULL: to all, or with `destination` to this connection alone.
 */
int ald_record_emit_changed(
        sd_bus *bus, const char *destination, const char *path, const AldRecord *record, uint64_t fields);
int ald_record_emit_added(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const AldRecord *const *records);
int ald_record_emit_removed(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const char *const *interfaces);
