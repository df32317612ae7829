/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* What the interfaces of one node are to each other and to the world. */

bool ald_interface_is(const AldInterface *interface, AldInterfaceType type);

/* Whether traffic through it has its price, as NetworkManager knows or guesses. */
bool ald_interface_is_metered(const AldInterface *interface);

/* Whether it leads out of the machine by itself: Ethernet, Wi-Fi, Thunderbolt or InfiniBand. */
bool ald_interface_is_physical(const AldInterface *interface);

/* Whether any interface leads out of the machine by itself. */
bool ald_network_has_physical(const AldNetwork *network);

/*
 * Whether other nodes may be reached through the interface. Not through loopback and dummy interfaces, those
 * without carrier, ports of bridges and bonds, bridges of which no port leads out, and
 * veth interfaces where there are physical ones, since those lead to containers then; a node that has nothing
 * else is a container, or simulated.
 */
bool ald_network_leads_out(const AldNetwork *network, const AldInterface *interface, bool physical);

/* The interface that has this address, or NULL. */
const AldInterface *ald_network_find_address(const AldNetwork *network, const char *address);

/*
 * The interface that traffic of this one goes through in the end: below a vlan its parent, below a port its
 * bridge or bond. Who shares that disturbs each other. The interface itself where there is none other.
 */
const AldInterface *ald_network_find_carrier(const AldNetwork *network, const AldInterface *interface);
