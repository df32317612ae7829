/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Sockets on which the exporter serves TCP. */

/* Returns why an address is refused, or NULL. Addresses are "127.0.0.1:10001" or "[::1]:10001"; names are not
 * resolved. */
const char *ald_listen_refuse_address(const char *address);

/* Adds the sockets that systemd has passed to an array of int. Returns their number, or -EINVAL, logged, if
 * one is not a listening TCP socket. */
int ald_listen_take_passed(GArray *fds);

/* Binds a socket to a valid address and adds it. Returns a negative errno, logged, if that fails. */
int ald_listen_bind(const char *address, GArray *fds);

/* Returns whether a socket can be reached from this machine only. */
bool ald_listen_is_local(int fd);

/* Returns the address of a socket, as "127.0.0.1:10001"; free with g_free(). */
char *ald_listen_describe(int fd);
