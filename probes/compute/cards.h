/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* A device that may compute, as sysfs knows it. */
typedef struct AldCard {
        char *id;        /* PCI address, or the name of a device of the platform */
        unsigned vendor; /* on PCI; 0 elsewhere */
} AldCard;

/* Those below a root directory ("/"): a list of AldCard. */
GPtrArray *ald_cards_read(const char *root);
GPtrArray *ald_cards_new(void);
void ald_cards_add(GPtrArray *cards, const char *id, unsigned vendor);
