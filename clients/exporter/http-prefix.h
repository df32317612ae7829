/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

/*
 * Returns a number that is equal for addresses whose connections are counted together: the first 64 bits of
 * an IPv6 address, since one machine may have all addresses that begin with them; the IPv4 address, also for
 * one mapped into IPv6; and a number for IPv6 loopback. 0 for NULL and other families.
 */
uint64_t ald_http_prefix(const struct sockaddr *address);
