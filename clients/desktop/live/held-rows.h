/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "record/field.h"

/* The rows of a reply, with the memory that they need. */
typedef struct AldHeldRows {
        AldRows rows;
        GPtrArray *owned;
        sd_bus_message *message;
} AldHeldRows;

#define ALD_HELD_ROWS_MAX ((size_t) 16 * 1024 * 1024) /* bytes in memory */

/* Reads an array of rows. Negative errno. Without memory of an earlier reading in it. */
int ald_held_rows_read(sd_bus_message *message, const AldStruct *type, AldHeldRows *ret);

/* Leaves no rows, of the same type. */
void ald_held_rows_clear(AldHeldRows *rows);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldHeldRows, ald_held_rows_clear)
