/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "record/update.h"

/* Updates on the bus: node, kind, key, epoch, seq, updated, deleted, fields. */
#define ALD_UPDATE_SIGNATURE "(ssstttba{sv})"
#define ALD_UPDATES_SIGNATURE "a" ALD_UPDATE_SIGNATURE

/* Appends an update to an open array. */
int ald_update_bus_append(sd_bus_message *message, const AldUpdate *update);

/* An update read from a message. Strings point into the message. */
typedef struct AldUpdateRow {
        const char *node, *kind; /* "" if these could not be read */
        /*
         * 0, or why this update is refused: -ENOENT for an unknown kind, -EINVAL for an invalid node id, or
         * an error of ald_record_bus_read(). ald_store_put() checks whether the key fits the kind.
         */
        int refusal;
        const char *field; /* the refused field; NULL: not a single one */
        AldUpdate update;  /* set if nothing was refused; the row owns its record */
} AldUpdateRow;

void ald_update_row_clear(AldUpdateRow *row);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldUpdateRow, ald_update_row_clear)

/*
 * Reads the next update of an open array into a row that is zeroed or was used before. Returns 1, 0 at the
 * end of the array, or an error of sd-bus, after which nothing more of the message can be read; -EBADMSG
 * means a string that sd-bus refuses.
 */
int ald_update_bus_read(sd_bus_message *message, AldUpdateRow *row);
