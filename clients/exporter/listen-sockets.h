/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Sockets on which the exporter is reached over TCP. */

/* Why an address is refused, or NULL: "127.0.0.1:10001" or "[::1]:10001"; names are not looked up. */
const char *ald_listen_refuse_address(const char *address);

/* Adds the sockets that systemd has passed to an array of int. Returns their number; -EINVAL, logged, if one
 * is not a listening TCP socket. */
int ald_listen_take_passed(GArray *fds);

/* Binds a socket to a valid address and adds it. Errors are logged. */
int ald_listen_bind(const char *address, GArray *fds);

/* Whether a socket can be reached from this machine only. */
bool ald_listen_is_local(int fd);

/* "127.0.0.1:10001", of a socket; to be freed. */
char *ald_listen_describe(int fd);
