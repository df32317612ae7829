/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* The roles of the interfaces of a node. */

bool ald_interface_is(const AldInterface *interface, AldInterfaceType type);

/* Returns whether it is metered, as NetworkManager knows or guesses. */
bool ald_interface_is_metered(const AldInterface *interface);

/* Returns whether it is physical: Ethernet, Wi-Fi, Thunderbolt or InfiniBand. */
bool ald_interface_is_physical(const AldInterface *interface);

bool ald_network_has_physical(const AldNetwork *network);

/*
 * Returns whether other nodes may be reached through the interface. This excludes loopback and dummy
 * interfaces, interfaces without carrier, ports of bridges and bonds, bridges without a port that leads out,
 * and veth interfaces if there are physical ones, since they lead to containers then; a node with nothing
 * else is a container, or simulated.
 */
bool ald_network_leads_out(const AldNetwork *network, const AldInterface *interface, bool physical);

/* Returns the interface that has this address, or NULL. */
const AldInterface *ald_network_find_address(const AldNetwork *network, const char *address);

/*
 * Returns the interface that finally carries the traffic of this one: for a VLAN its parent, for a port its
 * bridge or bond, otherwise the interface itself. Interfaces with the same carrier disturb each other.
 */
const AldInterface *ald_network_find_carrier(const AldNetwork *network, const AldInterface *interface);
