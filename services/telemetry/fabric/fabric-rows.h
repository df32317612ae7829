/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "record/schema.h"

/* The rows of one scan, with the strings they point to. */
typedef struct AldFabricRows {
        int root;
        GStringChunk *strings;
        GPtrArray *lists;    /* of char **, whose strings are above */
        GArray *rdma_ports;  /* of AldRdmaPort */
        GArray *domains;     /* of AldThunderboltDomain */
        GArray *connections; /* of AldThunderboltPort */
        unsigned left_out;   /* rows of any kind */
        unsigned gids_left_out;
} AldFabricRows;

/* Maximum number of rows of each kind, in case sysfs is broken or hostile. */
#define ALD_FABRIC_ROWS_MAX 64u

/* Whether there is room for another row in this array; if not, counts it as left out. */
bool ald_fabric_has_room(AldFabricRows *rows, const GArray *array);

AldFabricRows *ald_fabric_rows_new(int root);
void ald_fabric_rows_free(AldFabricRows *rows);

/* Reads a file into a string that the rows own; NULL if it cannot be read, which is logged unless it is
 * normal. */
const char *ald_fabric_read(AldFabricRows *rows, const char *directory, const char *file);

/* The first network interface in a directory whose entries are named after interfaces, or NULL. */
const char *ald_fabric_first_in(AldFabricRows *rows, const char *directory);
