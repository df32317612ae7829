/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/live/live-cluster.h"

/* One finding: its severity, text and remedy, buttons for the nodes that it is about, and a button that
 * copies it. */
#define ALD_TYPE_FINDING_CARD (ald_finding_card_get_type())
G_DECLARE_FINAL_TYPE(AldFindingCard, ald_finding_card, ALD, FINDING_CARD, GtkBox)

GtkWidget *ald_finding_card_new(AldLiveCluster *cluster);

/* Shows a finding and follows its changes; NULL shows none. */
void ald_finding_card_set_item(AldFindingCard *card, AldFindingItem *item);

/* Returns NULL while the card shows none. */
AldFindingItem *ald_finding_card_item(AldFindingCard *card);

/* Returns the whole finding as lines of text; to be freed. */
char *ald_finding_card_text(AldFindingItem *item);

/* Shows the details of the nodes that the finding is about, if these are one or two. */
void ald_finding_card_open(GtkWidget *widget, AldFindingItem *item);
