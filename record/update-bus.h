/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "record/update.h"

/* Updates on the bus: node, kind, key, epoch, seq, updated, deleted, fields. */
#define ALD_UPDATE_SIGNATURE "(ssstttba{sv})"
#define ALD_UPDATES_SIGNATURE "a" ALD_UPDATE_SIGNATURE

/* Appends one, with an open array around it. */
int ald_update_bus_append(sd_bus_message *message, const AldUpdate *update);

/* One as it stands in a message. Strings point into the message. */
typedef struct AldUpdateRow {
        const char *node, *kind; /* "" where not even these could be read */
        /*
         * 0, or why this update is refused: -ENOENT for an unknown kind, -EINVAL for an invalid node id, or
         * an error of ald_record_bus_read(). ald_store_put() checks whether the key fits the kind.
         */
        int refusal;
        const char *field; /* that was refused; NULL: no single one */
        AldUpdate update;  /* where nothing was refused; its record is owned by the row */
} AldUpdateRow;

void ald_update_row_clear(AldUpdateRow *row);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldUpdateRow, ald_update_row_clear)

/*
 * Reads the next one of an open array into a row that is all 0 or was read into before. 1, 0 at the end of
 * the array, or sd-bus's error, behind which nothing more of the message can be read; -EBADMSG then is for a
 * string that sd-bus does not take.
 */
int ald_update_bus_read(sd_bus_message *message, AldUpdateRow *row);
