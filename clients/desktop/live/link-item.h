/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/link-summary.h"

/* One path as a row of a list. Its signal "changed" is emitted after it was measured, or its verdict has
 * changed. */
#define ALD_TYPE_LINK_ITEM (ald_link_item_get_type())
G_DECLARE_FINAL_TYPE(AldLinkItem, ald_link_item, ALD, LINK_ITEM, GObject)

/* Takes ownership of the summary. */
AldLinkItem *ald_link_item_new(AldLinkSummary *summary);

/* Returns what distinguishes the path from all others; it never changes. */
const char *ald_link_item_key(AldLinkItem *item);

/* Takes ownership of the summary, whose key must be the same. */
void ald_link_item_update(AldLinkItem *item, AldLinkSummary *summary);

/* Returns the summary of the last update, with the present time for ages and waits. It is valid until the
 * main loop runs again. */
const AldLinkSummary *ald_link_item_summary(AldLinkItem *item);

/* Returns the verdict in words. It is valid until "changed". */
const char *ald_link_item_verdict(AldLinkItem *item, AldTone *ret_tone);

/* Returns the key of an item with this summary; to be freed. */
char *ald_link_summary_key(const AldLinkSummary *summary);
