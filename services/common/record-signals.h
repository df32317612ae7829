/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "record/record.h"

/*
 * Emit PropertiesChanged, InterfacesAdded (records are NULL-terminated) and InterfacesRemoved (interfaces are
 * NULL-terminated), as broadcasts or, with `destination`, to this connection only.
 */
int ald_record_emit_changed(
        sd_bus *bus, const char *destination, const char *path, const AldRecord *record, uint64_t fields);
int ald_record_emit_added(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const AldRecord *const *records);
int ald_record_emit_removed(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const char *const *interfaces);
