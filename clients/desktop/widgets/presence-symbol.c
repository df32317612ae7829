/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/widgets/presence-symbol.h"

static const AldPresenceSymbol symbols[] = {
        [ALD_ITEM_PRESENCE_ONLINE] = { "object-select-symbolic", N_("Online"), ALD_TONE_GOOD },
        [ALD_ITEM_PRESENCE_STALE] = { "dialog-warning-symbolic", N_("Stale"), ALD_TONE_WARNING },
        [ALD_ITEM_PRESENCE_DUPLICATE] = { "edit-copy-symbolic", N_("Duplicate"), ALD_TONE_ERROR },
        [ALD_ITEM_PRESENCE_UNKNOWN] = { "dialog-question-symbolic", N_("Unknown"), ALD_TONE_WARNING },
        [ALD_ITEM_PRESENCE_OFFLINE] = { "dialog-error-symbolic", N_("Offline"), ALD_TONE_ERROR },
};

AldPresenceSymbol ald_presence_symbol(AldNodeItem *item)
{
        AldItemPresence presence = ald_node_item_presence(item);
        AldPresenceSymbol symbol = symbols[presence];

        symbol.name = _(symbol.name);
        /* A node that counts as online may have been silent for some time. */
        if (presence == ALD_ITEM_PRESENCE_ONLINE)
                g_free(ald_node_item_seen(item, &symbol.tone));
        return symbol;
}
