/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/node-item.h"

/* A symbol beside the words for the presence of a node, so that no one depends on a colour. */
typedef struct AldPresenceSymbol {
        const char *icon, *name; /* static; the name is translated */
        AldTone tone;
} AldPresenceSymbol;

AldPresenceSymbol ald_presence_symbol(AldNodeItem *item);
