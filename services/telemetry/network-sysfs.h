/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What sys/class/net tells of one interface beyond rtnetlink. */
typedef struct AldLinkFacts {
        char *driver;      /* of the device behind it, or NULL */
        char *device_type; /* DEVTYPE of its uevent, or NULL */
        bool wireless;
        uint64_t speed; /* bits per second */
        bool complained;
} AldLinkFacts;

void ald_link_facts_init(AldLinkFacts *facts);
void ald_link_facts_clear(AldLinkFacts *facts);

/*
 * Reads all of it anew. Asking for the speed can reach the hardware, so it is done only `with_speed`. The
 * index tells whether the name still is, or in this /sys ever was, the interface that is meant.
 */
void ald_link_facts_read(AldLinkFacts *facts, int root, const char *name, int index, bool with_speed);
