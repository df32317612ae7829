/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

/*
 * Whose connections are counted together: of an address of IPv6 its first 64 bits, since one machine may have
 * all addresses that begin with them; an address of IPv4, also within one of IPv6; and loopback. 0 for NULL
 * and other families.
 */
uint64_t ald_http_prefix(const struct sockaddr *address);
