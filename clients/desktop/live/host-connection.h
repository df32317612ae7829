/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/*
 * Begins to connect to the system bus of another host over ssh, as sd_bus_open_system_remote() does, but
 * neither this nor the end of the connection waits for ssh, whatever that does: it is asked to end when the
 * connection is freed. For a NULL host, as ald_connection_open(). What ssh writes to its standard error is
 * kept in a file, also if it has ended already, which the caller closes; -1: there is none. Needs a main
 * loop. Negative errno; -EINVAL: not a host, -ENOENT: ssh is not installed, -EPIPE: ssh has ended before
 * anything could be written.
 */
int ald_host_connection_open(const char *host, int *ret_complaints, sd_bus **ret);

/* The last line in that file, shortened, as safe text to be freed; NULL if there is none. */
char *ald_host_connection_complaint(int complaints);

/* What is started for this host, [USER@]HOST[:PORT][/CONTAINER], as sd-bus would; to be freed. */
char **ald_host_connection_command(const char *host);
