/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

#include "clients/desktop/live/node-item.h"
#include "clients/desktop/topology/plan-marks.h"

#define ALD_CARD_WIDTH 208
#define ALD_CARD_HEIGHT 116
#define ALD_COMPACT_WIDTH 150
#define ALD_COMPACT_HEIGHT 56

/* A node on the canvas. Activating it opens its details. */
#define ALD_TYPE_NODE_CARD (ald_node_card_get_type())
G_DECLARE_FINAL_TYPE(AldNodeCard, ald_node_card, ALD, NODE_CARD, GtkButton)

GtkWidget *ald_node_card_new(AldNodeItem *item);
AldNodeItem *ald_node_card_item(AldNodeCard *card);

/* Returns everything that the card shows, and which figures are missing: its name for screen readers, and its
 * tooltip. */
const char *ald_node_card_words(AldNodeCard *card);

/* Updates how long ago the node was seen. Redraws nothing if the words stay the same. */
void ald_node_card_tick(AldNodeCard *card);

/* Hides the texts of memory and load; the bar remains. */
void ald_node_card_set_compact(AldNodeCard *card, bool compact);

void ald_node_card_set_selected(AldNodeCard *card, bool selected);

/* Shows the node's part in a plan; NULL: none. The mark is not kept. */
void ald_node_card_set_plan(AldNodeCard *card, const AldNodeMark *mark);
