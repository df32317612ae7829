/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALD_ROUTE_REQUEST_MAX 128u

/* Whether the address means something on one interface only. */
bool ald_route_is_link_local(const char *address);

/* A question to rtnetlink for the route to an address, and its answer. */

/* Writes the question for a numeric address; index is that of the interface it must go through, or 0. Returns
 * its size, or -EINVAL for what is no address. */
int ald_route_request(const char *address, unsigned index, char buffer[static ALD_ROUTE_REQUEST_MAX]);

/* The index of the interface. -ENETUNREACH and the like as the kernel says; -ENONET for a route that
 * discards (blackhole); -EHOSTUNREACH for one that leads to ourselves or nowhere; -EBADMSG for what is no
 * answer. */
int ald_route_answer(const void *bytes, size_t n, unsigned *ret_index);
