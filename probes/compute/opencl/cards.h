/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* A device in sysfs that may be able to compute. */
typedef struct AldCard {
        char *id;        /* PCI address, or the name of a platform device */
        unsigned vendor; /* on PCI; 0 elsewhere */
} AldCard;

/* Reads the devices below a root directory ("/") into a list of AldCard. */
GPtrArray *ald_cards_read(const char *root);
GPtrArray *ald_cards_new(void);
void ald_cards_add(GPtrArray *cards, const char *id, unsigned vendor);
