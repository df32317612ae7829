/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/device-columns.h"
#include "clients/desktop/live/node-item.h"

/* A compute device of the cluster as a row of a list. Its signal "changed" is emitted after something that is
 * known of it, or of its node, may have changed. */
#define ALD_TYPE_DEVICE_ITEM (ald_device_item_get_type())
G_DECLARE_FINAL_TYPE(AldDeviceItem, ald_device_item, ALD, DEVICE_ITEM, GObject)

/* Makes the item of a row whose records are the present ones of the node. `whole` is the device of which it
 * is a part, such as a MIG instance; NULL: of none. */
AldDeviceItem *ald_device_item_new(AldNodeItem *node, const AldDeviceRow *row, AldDeviceItem *whole);

/* Does the same for an item of the same node and device. */
void ald_device_item_update(AldDeviceItem *item, const AldDeviceRow *row, AldDeviceItem *whole);

AldNodeItem *ald_device_item_node(AldDeviceItem *item);

/* Returns the device of which it is a part, or the item itself. */
AldDeviceItem *ald_device_item_whole(AldDeviceItem *item);

/* Returns the row of the last update, with the present time for ages; valid until the main loop runs again.
 */
const AldDeviceRow *ald_device_item_row(AldDeviceItem *item);
