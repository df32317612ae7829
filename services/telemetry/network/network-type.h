/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/network/network-parse.h"
#include "services/telemetry/network/network-sysfs.h"

/* Has the type of the interface below, as a macvlan does. */
#define ALD_INTERFACE_TYPE_AS_PARENT ALD_INTERFACE_TYPE_N

/* The type of an interface according to the kernel. */
AldInterfaceType ald_link_type(const AldLinkInfo *info, const AldLinkFacts *facts);

/* Whether interfaces of this kind have a speed of their own or that of the interface below; the others report
 * a made-up one, such as the 10 Gb/s of a veth. */
bool ald_link_tells_speed(const AldLinkInfo *info);

/* Whether its controller is one that has ports: a bridge, a bond or the like, not a VRF. */
bool ald_link_has_ports(const AldLinkInfo *info);

/* Whether the index in IFLA_LINK is that of the interface below, not of the other end. */
bool ald_link_has_parent(const AldLinkInfo *info);
