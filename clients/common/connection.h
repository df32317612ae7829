/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* After the first, the user sees what is being waited for; after the second, it is given up. */
#define ALD_NOTICE_USEC (UINT64_C(3) * 1000 * 1000)
#define ALD_ANSWER_USEC (UINT64_C(10) * 1000 * 1000)
/* For a call about which the service may have a person asked for a password. */
#define ALD_ASKING_USEC (UINT64_C(120) * 1000 * 1000)
/* Where ssh can ask nobody; it may have to go through other hosts. */
#define ALD_ANSWER_OF_HOST_USEC (UINT64_C(30) * 1000 * 1000)

/* Whether ssh can take this as a host: [USER@]HOST[:PORT][/CONTAINER], or with :CONTAINER for the latter. */
bool ald_connection_is_host(const char *text);

/* Whether ssh is installed. */
bool ald_connection_has_ssh(void);

/*
 * Begins to connect to the system bus of another host over ssh; check the host and ssh first. If the host is
 * NULL, connects to the bus at $ALIDADE_BUS_ADDRESS or else to the system bus. Negative errno of sd-bus.
 */
int ald_connection_open(const char *host, sd_bus **ret);

/* The other end in words: the host, the address, or "the system bus". Points into the argument, the
 * environment or the translations. */
const char *ald_connection_place(const char *host);

/*
 * Waits until the connection is established. Calls `notice` (may be NULL) once after ALD_NOTICE_USEC. What
 * does not answer gives -ETIMEDOUT: after 90 s another host where there is a terminal, since the user may be
 * typing a password into ssh, else after ALD_ANSWER_OF_HOST_USEC; a bus of this machine
 * after ALD_ANSWER_USEC. Other errors are those of sd-bus.
 */
int ald_connection_await(sd_bus *bus, bool is_remote, void (*notice)(void *userdata), void *userdata);
