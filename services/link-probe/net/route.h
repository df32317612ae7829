/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>

#include "services/link-probe/net/route-message.h"

/*
 * The interface through which this machine reaches an address. `through` is the required interface, or NULL;
 * a link-local address needs one. The kernel replies at once. -ENODEV if `through` does not exist,
 * -EHOSTUNREACH for an address of this machine, else the errors of route-message.h.
 */
int ald_route_lookup(const char *address, const char *through, char ret[static IFNAMSIZ]);

/* Describes why there is no route. */
const char *ald_route_describe(int error);
