/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the interface through which this machine reaches an address. `through` is the required interface, or
 * NULL; a link-local address needs one. The kernel replies at once. Returns -ENODEV if `through` does not
 * exist, -EHOSTUNREACH for an address of this machine, else the errors of ald_route_answer().
 */
int ald_route_lookup(const char *address, const char *through, char ret[static IFNAMSIZ]);

/* Describes why there is no route. */
const char *ald_route_describe(int error);

/* Returns whether the address is link-local, so that it is valid on one interface only. */
bool ald_route_is_link_local(const char *address);

/* The maximum size of the request to rtnetlink for the route to an address. */
#define ALD_ROUTE_REQUEST_MAX 128u

/* Writes the request for a numeric address; `index` is the number of the interface to use, or 0. Returns its
 * size, or -EINVAL if it is not an address. */
int ald_route_request(const char *address, unsigned index, char buffer[static ALD_ROUTE_REQUEST_MAX]);

/* Reads the number of the interface from the reply. Returns -ENETUNREACH and the like as reported by the
 * kernel; -ENONET for a route that discards packets (blackhole); -EHOSTUNREACH for a route to this machine or
 * to nowhere; -EBADMSG for an invalid reply. */
int ald_route_answer(const void *bytes, size_t n, unsigned *ret_index);
