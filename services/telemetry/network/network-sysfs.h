/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The facts that sys/class/net shows about one interface in addition to rtnetlink. */
typedef struct AldLinkFacts {
        char *driver;      /* of the device behind it, or NULL */
        char *device_type; /* DEVTYPE of its uevent, or NULL */
        bool wireless;
        uint64_t speed; /* bits per second */
        bool warned;
} AldLinkFacts;

void ald_link_facts_init(AldLinkFacts *facts);
void ald_link_facts_clear(AldLinkFacts *facts);

/*
 * Reads everything again. Reading the speed may access the hardware, so it is done only `with_speed`. The
 * index is used to check that the name still belongs to this interface, and that /sys shows this network
 * namespace.
 */
void ald_link_facts_read(AldLinkFacts *facts, int root, const char *name, int index, bool with_speed);
