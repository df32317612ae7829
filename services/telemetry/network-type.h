/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/network-parse.h"
#include "services/telemetry/network-sysfs.h"

/* Of the kind of the interface it lies upon, as a macvlan is. */
#define ALD_INTERFACE_TYPE_AS_PARENT ALD_INTERFACE_TYPE_N

/* What the kernel makes of an interface. */
AldInterfaceType ald_link_type(const AldLinkInfo *info, const AldLinkFacts *facts);

/* Whether interfaces of this kind have a speed of their own or pass on that of what lies below; the others
 * make one up: a veth always says 10 Gb/s. */
bool ald_link_tells_speed(const AldLinkInfo *info);

/* Whether its controller is one that has ports: a bridge, a bond or the like, not a VRF. */
bool ald_link_has_ports(const AldLinkInfo *info);

/* Whether the index in IFLA_LINK is that of an interface below, not of the other end. */
bool ald_link_has_parent(const AldLinkInfo *info);
