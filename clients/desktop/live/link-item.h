/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/link-summary.h"

/* One path as a row of a list. Its signal "changed" is emitted after it was measured, or its verdict changed.
 */
#define ALD_TYPE_LINK_ITEM (ald_link_item_get_type())
G_DECLARE_FINAL_TYPE(AldLinkItem, ald_link_item, ALD, LINK_ITEM, GObject)

/* Takes the summary. */
AldLinkItem *ald_link_item_new(AldLinkSummary *summary);

/* What tells it from all others; stays the same. */
const char *ald_link_item_key(AldLinkItem *item);

/* Takes the summary, whose key is the same. */
void ald_link_item_update(AldLinkItem *item, AldLinkSummary *summary);

/* As it was at the last update, but ages and waits go by the present time. Valid until the main loop runs
 * again. */
const AldLinkSummary *ald_link_item_summary(AldLinkItem *item);

/* The verdict in words. Valid until "changed". */
const char *ald_link_item_verdict(AldLinkItem *item, AldTone *ret_tone);

/* The key of an item with this summary; to be freed. */
char *ald_link_summary_key(const AldLinkSummary *summary);
