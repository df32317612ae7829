/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>

#include "services/link-probe/route-message.h"

/*
 * The interface through which this machine reaches an address. `through` is the one it must be, or NULL: a
 * link-local address means something on one only. The kernel answers at once. -ENODEV where `through` is not
 * there, -EHOSTUNREACH for an address of our own, else what the kernel or route-message.h says.
 */
int ald_route_lookup(const char *address, const char *through, char ret[static IFNAMSIZ]);

/* Why there is no way, in words. */
const char *ald_route_describe(int error);
