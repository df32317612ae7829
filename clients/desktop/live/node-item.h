/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/columns/node-columns.h"

/* A node as a row of a list or a card. Its signal "changed" is emitted after its records have changed. */
#define ALD_TYPE_NODE_ITEM (ald_node_item_get_type())
G_DECLARE_FINAL_TYPE(AldNodeItem, ald_node_item, ALD, NODE_ITEM, GObject)

typedef enum AldItemPresence {
        ALD_ITEM_PRESENCE_ONLINE,
        ALD_ITEM_PRESENCE_STALE, /* silent for some seconds */
        ALD_ITEM_PRESENCE_DUPLICATE,
        ALD_ITEM_PRESENCE_UNKNOWN,
        ALD_ITEM_PRESENCE_OFFLINE,
} AldItemPresence;

/* The model must outlive the item. The caller refreshes the item when records of the node have changed. */
AldNodeItem *ald_node_item_new(AldModel *model, const char *id);
void ald_node_item_refresh(AldNodeItem *item);

const char *ald_node_item_id(AldNodeItem *item);

/* Returns safe text. */
const char *ald_node_item_name(AldNodeItem *item);

/* Returns NULL once the node has gone. Its records are valid until the main loop runs again. */
const AldEntity *ald_node_item_entity(AldNodeItem *item);

AldItemPresence ald_node_item_presence(AldNodeItem *item);

/* Returns "online", "stale for 5 s", "offline for 5 min"; to be freed. */
char *ald_node_item_seen(AldNodeItem *item, AldTone *ret_tone);

/* Returns the present row of the list of nodes; valid until the main loop runs again. */
const AldNodeRow *ald_node_item_row(AldNodeItem *item);

/* Returns the name of a symbolic icon for this kind of machine. */
const char *ald_node_item_icon(AldNodeItem *item);
