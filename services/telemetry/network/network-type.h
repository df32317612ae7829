/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/network/network-parse.h"
#include "services/telemetry/network/network-sysfs.h"

/* The interface has the type of the interface below, as a macvlan does. */
#define ALD_INTERFACE_TYPE_AS_PARENT ALD_INTERFACE_TYPE_N

/* Returns the type of an interface according to the kernel. */
AldInterfaceType ald_link_type(const AldLinkInfo *info, const AldLinkFacts *facts);

/* Returns whether interfaces of this kind have a speed of their own or the speed of the interface below; the
 * others report a made-up one, such as the 10 Gb/s of a veth. */
bool ald_link_reports_speed(const AldLinkInfo *info);

/* Returns whether a controller has ports, as a bridge or a bond does, and a VRF does not. */
bool ald_link_has_ports(const AldLinkInfo *info);

/* Returns whether IFLA_LINK is the index of the interface below, not of the other end. */
bool ald_link_has_parent(const AldLinkInfo *info);
