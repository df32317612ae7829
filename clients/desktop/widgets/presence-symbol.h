/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/node-item.h"

/* A symbol beside the words for the presence of a node, so that color alone carries no meaning. */
typedef struct AldPresenceSymbol {
        const char *icon, *name; /* static; the name is translated */
        AldTone tone;
} AldPresenceSymbol;

AldPresenceSymbol ald_presence_symbol(AldNodeItem *item);
