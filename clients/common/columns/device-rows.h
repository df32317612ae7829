/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/device-columns.h"

/* The list of all devices of a cluster: each is followed by its parts, such as MIG instances. */

/*
 * Adds an AldDeviceRow for each device of a node: its GPUs and accelerators by their ids, and its processors
 * last. What can be known of a processor beyond its measurement is what the node reports of itself. Free
 * memory is that of the device, and that of the host which a device that computes there can use; all of it if
 * the device is asleep and nobody holds it. Of a device with parts it is that of the part with the most, as
 * nothing can compute on the device as a whole.
 *
 * A device is a part of another one if the node lists that one too, as no part of yet another: so nothing is
 * lost where a peer names parents in circles. Returns the number of devices beyond ALD_NODE_DEVICES_MAX,
 * which have no row.
 */
guint ald_device_rows_add(GArray *rows, AldModel *model, const AldEntity *node, double now_usec);

/* Sorts like ald_column_sort(); parts stay below their device, in their order. */
int ald_device_rows_sort(GArray *rows, const char *names, char **ret_problem);

/* Removes the rows with less free memory, or of which it is not known. A device stays with those of its parts
 * that have enough. */
void ald_device_rows_keep_free(GArray *rows, double least_bytes);
