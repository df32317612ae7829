/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "record/schema.h"

/* The holders of the devices of this machine, as far as the caller may see them. */
typedef struct AldOwnHolders {
        AldRows rows;           /* AldHolder */
        GPtrArray *owned;       /* what the rows point to, besides the message; NULL: they were not read */
        sd_bus_message *answer; /* likewise */
} AldOwnHolders;

/* Asks the telemetry service, which is not started for that and may be too old to know. Negative errno of
 * sd-bus. */
int ald_own_holders_read(sd_bus *bus, AldOwnHolders *ret);

void ald_own_holders_clear(AldOwnHolders *holders);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldOwnHolders, ald_own_holders_clear)
