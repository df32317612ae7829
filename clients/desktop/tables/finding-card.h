/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/live/live-cluster.h"

/* One finding: its severity, its words, its remedy, the nodes that it is about, and a button that copies it.
 */
#define ALD_TYPE_FINDING_CARD (ald_finding_card_get_type())
G_DECLARE_FINAL_TYPE(AldFindingCard, ald_finding_card, ALD, FINDING_CARD, GtkBox)

GtkWidget *ald_finding_card_new(AldLiveCluster *cluster);

/* Shows a finding and follows its changes; NULL for none. */
void ald_finding_card_set_item(AldFindingCard *card, AldFindingItem *item);

/* NULL while it shows none. */
AldFindingItem *ald_finding_card_item(AldFindingCard *card);

/* All of it as text, in lines; to be freed. */
char *ald_finding_card_text(AldFindingItem *item);

/* Shows the details of the nodes that it is about, if these are one or two. */
void ald_finding_card_open(GtkWidget *widget, AldFindingItem *item);
