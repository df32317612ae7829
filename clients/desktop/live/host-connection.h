/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/*
 * Begins to connect to the system bus of another host over ssh, as sd_bus_open_system_remote() does. Unlike
 * there, neither this call nor the end of the connection waits for ssh, which is asked to end when the
 * connection is freed. For a NULL host it is ald_connection_open(). Needs a main loop.
 *
 * The standard error of ssh goes to a file, also if this call fails; the caller closes it. It is -1 if there
 * is none.
 *
 * Returns a negative errno: -EINVAL if it is not a host, -ENOENT if ssh is not installed, -EPIPE if ssh ended
 * before anything could be written.
 */
int ald_host_connection_open(const char *host, int *ret_complaints, sd_bus **ret);

/* Returns the last line in that file, shortened, as safe text to be freed; NULL if there is none. */
char *ald_host_connection_last_error_line(int complaints);

/* Returns the command that is started for this host, [USER@]HOST[:PORT][/CONTAINER], the same as sd-bus would
 * start; to be freed. */
char **ald_host_connection_command(const char *host);
